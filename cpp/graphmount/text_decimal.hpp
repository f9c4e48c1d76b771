// Decimal fractions out of text, rounded correctly to double.
//
// Short numbers, which most are, are made of integers and powers of ten that double holds exactly,
// so that one operation rounds once. Others are left to the standard library, whatever the locale.
#pragma once

#include <cstdint>
#include <string_view>

#include "graphmount/text_integer.hpp"

namespace graphmount {

/// The value of a decimal number in plain notation; infinite if it is beyond double.
double decimal_by_library(std::string_view text);

/// The same with strtod, for standard libraries whose from_chars knows no floats.
double decimal_by_strtod(std::string_view text);

inline constexpr double kExactPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Reads a number at `text`: [+-] digits [. digits] [e [+-] digits]. Returns where it ends, or
/// nullptr if there is none. Eight bytes behind the number must be readable.
inline const char* read_decimal(const char* text, double& value) {
  const char* p = text;
  const bool is_negative = *p == '-';
  p += is_negative || *p == '+';
  const char* const unsigned_part = p;
  Digits whole = read_digits(p);
  p += whole.count;
  std::size_t count = whole.count;
  std::uint64_t mantissa = whole.count == 0 ? 0 : whole.value;
  std::int64_t exponent = 0;
  if (*p == '.') {
    ++p;
    for (;;) {
      const Digits part = read_eight_digits(p);
      p += part.count;
      count += part.count;
      exponent -= static_cast<std::int64_t>(part.count);
      if (part.count != 0) mantissa = mantissa * kPowersOfTen[part.count] + part.value;
      if (part.count < 8) break;
    }
  }
  if (count == 0) return nullptr;
  if ((*p | 0x20) == 'e') {
    const char* q = p + 1;
    const bool is_small = *q == '-';
    q += is_small || *q == '+';
    const Digits digits = read_digits(q);
    if (digits.count == 0) return nullptr;
    p = q + digits.count;
    // So large an exponent that it is no exact power of ten, as the real one is not.
    const auto power = digits.count > 8 ? 100'000'000 : static_cast<std::int64_t>(digits.value);
    exponent += is_small ? -power : power;
  }
  constexpr std::uint64_t kLargestExact = std::uint64_t{1} << 53;
  double magnitude;
  if (count <= 19 && mantissa <= kLargestExact && exponent >= -22 && exponent <= 22) {
    magnitude = static_cast<double>(mantissa);
    if (exponent < 0)
      magnitude /= kExactPowersOfTen[-exponent];
    else
      magnitude *= kExactPowersOfTen[exponent];
  } else {
    magnitude = decimal_by_library(
        std::string_view(unsigned_part, static_cast<std::size_t>(p - unsigned_part)));
  }
  value = is_negative ? -magnitude : magnitude;
  return p;
}

/// Reads what is no number and yet a float: nan, inf or infinity, in any case, with a sign or not.
const char* read_named_float(const char* text, const char* end, double& value);

}  // namespace graphmount
