#include "graphmount/text_decimal.hpp"

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
