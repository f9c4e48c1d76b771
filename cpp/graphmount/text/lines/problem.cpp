#include "graphmount/text/lines/problem.hpp"

#include <algorithm>
#include <cstddef>

#include "graphmount/base/utf8.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kShownCharacters = 40;

// The length of the printable character at the front; 0 if there is none.
std::size_t printable_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  // U+0080 to U+009F are control characters too.
  if (lead == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0) return 0;
  for (std::size_t length = 2; length <= std::min<std::size_t>(4, text.size()); ++length)
    if (is_utf8(text.substr(0, length))) return length;
  return 0;
}

std::string escape_byte(char c) {
  constexpr const char* kHexDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
}

bool is_integer(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string wanted(TextType type) {
  switch (type) {
    case TextType::kNodeId:
    case TextType::kKey:
    case TextType::kText:
      return "a node id";
    case TextType::kInteger:
      return "an integer";
    case TextType::kTime:
      return "a date or time like 2024-12-31T23:59:59";
    case TextType::kFloat32:
    case TextType::kFloat64:
      break;
  }
  return "a number";
}

// What to do about ids that are no numbers: names are mapped, and mapped ones may be text.
std::string advice(TextType type) {
  return type == TextType::kNodeId ? "; pass ids='map' if ids are names"
                                   : "; pass key_type='str' if ids are text";
}

}  // namespace

std::string show_text(std::string_view text) {
  std::string shown = "'";
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size() && count < kShownCharacters; ++count) {
    const std::size_t length = printable_length(text.substr(at));
    shown += length == 0 ? escape_byte(text[at]) : std::string(text.substr(at, length));
    at += std::max<std::size_t>(length, 1);
  }
  return shown + (at < text.size() ? "...'" : "'");
}

std::string describe_problem(std::string_view text, TextType type) {
  if (text.find('\0') != std::string_view::npos)
    return show_text(text) + " has a null byte in it; if the file is UTF-16, save it as UTF-8";
  if (text.empty()) return "the field is empty, where " + wanted(type) + " should be";
  if (type == TextType::kText)
    return show_text(text) + " is not valid UTF-8; convert the file to UTF-8";
  const bool is_id = type == TextType::kNodeId || type == TextType::kKey;
  if (is_integer(text) && (is_id || type == TextType::kInteger)) {
    if (type == TextType::kNodeId && text.front() == '-')
      return "node id " + std::string(text.substr(0, kShownCharacters)) +
             " is negative; pass ids='map' if ids are names rather than positions";
    return show_text(text) + " does not fit into 64 bits" + (is_id ? advice(type) : "");
  }
  if (is_id) return show_text(text) + " is not a node id" + advice(type);
  return show_text(text) + " is not " + wanted(type);
}

}  // namespace graphmount
