#include "graphmount/text/numbers/decimal.hpp"

#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <version>

namespace graphmount {

double decimal_by_strtod(std::string_view text) {
  const std::string terminated(text);
  // The user's locale may want a comma for the point. Never freed: it is needed to the end.
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(terminated.c_str(), nullptr, plain);
}

double decimal_by_library(std::string_view text) {
#if defined(__cpp_lib_to_chars)
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc()) return value;
  // Too large or too small, and from_chars does not say which.
#endif
  return decimal_by_strtod(text);
}

const char* read_any_decimal(const char* text, double& value) {
  const bool is_negative = *text == '-';
  const char* const unsigned_part = text + (is_negative || *text == '+' ? 1 : 0);
  Digits digits = read_digits(unsigned_part);
  const char* p = unsigned_part + digits.count;
  std::int64_t exponent = 0;
  if (*p == '.') {
    ++p;
    for (std::size_t last = 8; last == 8;) {
      const Digits more = read_eight_digits(p);
      last = more.count;
      p += last;
      digits.value = digits.value * kPowersOfTen[last] + more.value;
      digits.count += last;
      exponent -= static_cast<std::int64_t>(last);
    }
  }
  if (digits.count == 0) return nullptr;
  if (*p == 'e' || *p == 'E') {
    const bool is_small = p[1] == '-';
    p += is_small || p[1] == '+' ? 2 : 1;
    const Digits power = read_digits(p);
    if (power.count == 0) return nullptr;
    p += power.count;
    // One of so many digits is no exact power of ten, and that is all that matters below.
    const auto size = power.count > 8 ? 100'000'000 : static_cast<std::int64_t>(power.value);
    exponent += is_small ? -size : size;
  }
  double magnitude;
  if (digits.count <= 19 && digits.value <= kLargestExact && exponent >= -22 && exponent <= 22) {
    magnitude = static_cast<double>(digits.value);
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

const char* read_named_float(const char* text, const char* end, double& value) {
  const bool is_negative = text != end && *text == '-';
  if (text != end && (*text == '-' || *text == '+')) ++text;
  std::string name(text, end);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  if (name == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (name == "inf" || name == "infinity")
    value = is_negative ? -std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::infinity();
  else
    return nullptr;
  return end;
}

}  // namespace graphmount
