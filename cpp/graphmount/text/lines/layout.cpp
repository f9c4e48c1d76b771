#include "graphmount/text/lines/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace graphmount {
namespace {

// What numbers, names of numbers and the ends of lines and fields are made of: a delimiter or
// comment character among them would have two meanings.
bool is_taken(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool is_digit = c >= '0' && c <= '9';
  const auto byte = static_cast<unsigned char>(c);
  return is_letter || is_digit || byte >= 0x80 || c == '\0' ||
         std::string_view("+-.\"\r\n").find(c) != std::string_view::npos;
}

}  // namespace

std::size_t num_fields_needed(const TextLayout& layout) {
  std::size_t needed = 0;
  for (const TextOutput& output : layout.outputs)
    for (const std::size_t field : output.fields) needed = std::max(needed, field + 1);
  return needed;
}

std::string describe_long_line(const TextLayout& layout) {
  const std::string shown = std::to_string(layout.longest_line >> 20);
  const std::string largest = std::to_string(kLongestLine >> 20);
  return "longer than " + shown + " MiB; this does not look like a text table" +
         (layout.longest_line < kLongestLine
              ? " (a larger memory= allows lines of up to " + largest + " MiB)"
              : "");
}

void require_valid(const TextLayout& layout) {
  const TextFormat& format = layout.format;
  if (format.delimiter && (is_taken(*format.delimiter) || *format.delimiter == ' '))
    throw std::invalid_argument(
        "the delimiter must be one character that is no letter, digit, sign, point, quote, blank "
        "or line break");
  for (const char c : format.comments)
    if (is_taken(c) || c == ' ' || c == '\t' || c == format.delimiter)
      throw std::invalid_argument(
          "a comment must begin with a character that is no letter, digit, sign, point, quote, "
          "blank or delimiter");
  if (layout.outputs.empty()) throw std::invalid_argument("no columns are asked for");
  for (const TextOutput& output : layout.outputs) {
    if (output.fields.empty()) throw std::invalid_argument("an output without columns");
    if (output.type == TextType::kText && output.fields.size() != 1)
      throw std::invalid_argument("text cannot be put into a matrix");
  }
}

}  // namespace graphmount
