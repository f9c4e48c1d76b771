#include "graphmount/text/numbers/decimal.hpp"

#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <version>

#include "graphmount/text/numbers/integer.hpp"

namespace graphmount {
namespace {

bool is_sign(char c) {
  return c == '+' || c == '-';
}

// Whether a number can begin here. Libraries also know names of numbers, and hexadecimal ones.
bool begins_number(const char* text, const char* end) {
  if (text != end && is_sign(*text)) ++text;
  return text != end && (is_digit(*text) || *text == '.');
}

// Where a number ends; nullptr if what the library has left over begins an exponent.
const char* without_exponent(const char* rest, const char* end) {
  return rest != end && (*rest | 0x20) == 'e' ? nullptr : rest;
}

}  // namespace

const char* read_decimal_by_strtod(const char* text, const char* end, double& value) {
  if (!begins_number(text, end)) return nullptr;
  const std::string number(text, std::find_if_not(text, end, [](char c) {
                             return is_digit(c) || is_sign(c) || c == '.' || (c | 0x20) == 'e';
                           }));
  // The user's locale may want a comma for the point. Never freed: it is needed to the end.
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  char* rest = nullptr;
  value = strtod_l(number.c_str(), &rest, plain);
  return rest == number.c_str() ? nullptr : without_exponent(text + (rest - number.c_str()), end);
}

const char* read_decimal(const char* text, const char* end, double& value) {
#if defined(__cpp_lib_to_chars)
  if (!begins_number(text, end)) return nullptr;
  const auto [rest, error] = std::from_chars(text + (*text == '+' ? 1 : 0), end, value);
  if (error == std::errc()) return without_exponent(rest, end);
  if (error != std::errc::result_out_of_range) return nullptr;
  // Too large or too small, and from_chars does not say which.
#endif
  return read_decimal_by_strtod(text, end, value);
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
