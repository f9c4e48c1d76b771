#include "graphmount/text/lines/fields.hpp"

#include <algorithm>
#include <cstring>

namespace graphmount {
namespace {

// The rest of a row, while it is split.
class Rest {
 public:
  Rest(std::string_view line, const TextFormat& format) : rest_(line), format_(format) {}

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front(), format_)) rest_.remove_prefix(1);
  }
  bool is_empty() const { return rest_.empty(); }
  bool starts_with(char c) const { return !rest_.empty() && rest_.front() == c; }
  bool at_field_end() const {
    return rest_.empty() || (format_.delimiter ? rest_.front() == *format_.delimiter
                                               : rest_.front() == ' ' || rest_.front() == '\t');
  }
  void skip_one() { rest_.remove_prefix(1); }

  // Up to the end of the field, without the blanks before it.
  std::string_view take_unquoted() {
    std::size_t length =
        format_.delimiter ? rest_.find(*format_.delimiter) : rest_.find_first_of(" \t");
    if (length == std::string_view::npos) length = rest_.size();
    std::string_view field = rest_.substr(0, length);
    rest_.remove_prefix(length);
    while (!field.empty() && is_blank(field.back(), format_)) field.remove_suffix(1);
    return field;
  }

  // What is in the quotes that start here; nothing if they do not end.
  std::optional<TextField> take_quoted() {
    TextField field;
    field.is_quoted = true;
    for (std::size_t at = 1;; at += 2) {
      at = rest_.find('"', at);
      if (at == std::string_view::npos) return std::nullopt;
      if (at + 1 < rest_.size() && rest_[at + 1] == '"') {
        field.has_escapes = true;
        continue;
      }
      field.text = rest_.substr(1, at - 1);
      rest_.remove_prefix(at + 1);
      return field;
    }
  }

 private:
  std::string_view rest_;
  const TextFormat& format_;
};

}  // namespace

std::size_t count_lines(std::string_view text) {
  std::size_t count = 0;
  // In steps whose counts fit into a byte, which compilers turn into vector instructions.
  constexpr std::size_t kStep = 192;
  for (; text.size() >= kStep; text.remove_prefix(kStep)) {
    unsigned char in_step = 0;
    for (std::size_t i = 0; i < kStep; ++i)
      in_step = static_cast<unsigned char>(in_step + (text[i] == '\n'));
    count += in_step;
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string_view take_line(std::string_view& text) {
  const auto* const end = static_cast<const char*>(std::memchr(text.data(), '\n', text.size()));
  std::string_view line = text.substr(0, static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(line.size() + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

bool is_row(std::string_view line, const TextFormat& format) {
  for (const char c : line)
    if (!is_blank(c, format)) return format.comments.find(c) == std::string::npos;
  return false;
}

std::optional<SplitProblem> split_row(std::string_view line, const TextFormat& format,
                                      std::vector<TextField>& fields) {
  fields.clear();
  Rest rest(line, format);
  for (;;) {
    if (fields.size() == kMostFields)
      return SplitProblem{
          fields.size(),
          "there are more than 1048576 fields; this does not look like a text table"};
    rest.skip_blanks();
    if (!format.delimiter && rest.is_empty()) return std::nullopt;
    if (format.has_quotes && rest.starts_with('"')) {
      const std::optional<TextField> field = rest.take_quoted();
      if (!field)
        return SplitProblem{fields.size(),
                            "a quote is opened and not closed on this line; a field may not hold a "
                            "line break"};
      if (format.delimiter) rest.skip_blanks();
      if (!rest.at_field_end())
        return SplitProblem{fields.size(), "there is text behind the closing quote"};
      fields.push_back(*field);
    } else {
      fields.push_back({rest.take_unquoted()});
    }
    if (rest.is_empty()) return std::nullopt;
    if (format.delimiter) rest.skip_one();
  }
}

std::string unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain.push_back(text[i]);
    if (text[i] == '"') ++i;
  }
  return plain;
}

}  // namespace graphmount
