// Decimal fractions out of text, rounded correctly to double.
//
// Short numbers, which most are, are made of integers and powers of ten that double holds exactly,
// so that one operation rounds once. Others are left to the standard library, whatever the locale.
#pragma once

#include <cstdint>
#include <string_view>

#include "graphmount/text/numbers/integer.hpp"

namespace graphmount {

/// The value of a decimal number in plain notation; infinite if it is beyond double.
double decimal_by_library(std::string_view text);

/// The same with strtod, for standard libraries whose from_chars knows no floats.
double decimal_by_strtod(std::string_view text);

inline constexpr double kExactPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Doubles hold all integers up to this one.
inline constexpr std::uint64_t kLargestExact = std::uint64_t{1} << 53;

/// Reads a number at `text`: [+-] digits [. digits] [e [+-] digits]. Returns where it ends, or
/// nullptr if there is none. Eight bytes behind the number must be readable.
const char* read_any_decimal(const char* text, double& value);

/// The same; faster for up to eight digits before and behind the point, and no exponent.
inline const char* read_decimal(const char* text, double& value) {
  // Signs and lengths come as they like, so what they do takes no branch.
  const bool is_negative = *text == '-';
  const char* p = text + (static_cast<int>(is_negative) | static_cast<int>(*text == '+'));
  const Digits whole = read_eight_digits(p);
  p += whole.count;
  Digits fraction{0, 0};
  if (*p == '.') {
    fraction = read_eight_digits(p + 1);
    p += 1 + fraction.count;
  }
  const std::uint64_t mantissa = whole.value * kPowersOfTen[fraction.count] + fraction.value;
  if (whole.count + fraction.count == 0 || mantissa > kLargestExact || is_digit(*p) ||
      (*p | 0x20) == 'e') [[unlikely]]
    return read_any_decimal(text, value);
  static constexpr double kSigns[] = {1, -1};
  value = static_cast<double>(static_cast<std::int64_t>(mantissa)) *
          kSigns[static_cast<int>(is_negative)] / kExactPowersOfTen[fraction.count];
  return p;
}

/// Reads what is no number and yet a float: nan, inf or infinity, in any case, with a sign or not.
const char* read_named_float(const char* text, const char* end, double& value);

}  // namespace graphmount
