#include "graphmount/text/lines/parser.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/utf8.hpp"
#include "graphmount/text/lines/problem.hpp"
#include "graphmount/text/numbers/decimal.hpp"
#include "graphmount/text/numbers/integer.hpp"
#include "graphmount/text/numbers/time.hpp"

namespace graphmount {
namespace {

template <class Item>
bool put(std::byte* place, Item item) {
  std::memcpy(place, &item, sizeof item);
  return true;
}

bool parse_integer(std::string_view text, TextType type, std::byte* place) {
  std::int64_t value = 0;
  if (read_integer(text.data(), value) != text.data() + text.size()) return false;
  if (type == TextType::kNodeId && value < 0) return false;
  return put(place, value);
}

std::optional<double> parse_float(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  if (read_decimal(text.data(), end, value) == end) return value;
  if (read_named_float(text.data(), end, value) == end) return value;
  return std::nullopt;
}

// Whether an infinite value was finite in the text.
bool is_overflow(std::string_view text) {
  double named = 0;
  return read_named_float(text.data(), text.data() + text.size(), named) == nullptr;
}

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Puts the value of a field into its place; if that fails, says why.
std::optional<std::string> parse_field(const TextField& field, const WantedField& wanted,
                                       const TextTarget& target, std::byte* place,
                                       std::size_t row) {
  std::string unescaped;
  std::string_view text = field.text;
  if (field.has_escapes) {
    unescaped = unescape(text);
    text = unescaped;
    // Readers of numbers look at what is behind them.
    unescaped.append(kTextPadding, '\0');
    text = std::string_view(unescaped).substr(0, unescaped.size() - kTextPadding);
  }
  if (wanted.type == TextType::kText) {
    const bool is_missing = text.empty() && !wanted.may_be_empty;
    if (is_missing || !is_utf8(text) || text.find('\0') != std::string_view::npos)
      return describe_problem(text, wanted.type);
    add_text(target, row, text);
    return std::nullopt;
  }
  text = trim(text);  // quotes may have kept blanks
  switch (wanted.type) {
    case TextType::kTime: {
      const std::optional<std::int64_t> time = parse_time(text);
      if (!time) return describe_problem(text, wanted.type);
      put(place, *time);
      return std::nullopt;
    }
    case TextType::kFloat32:
    case TextType::kFloat64: {
      const std::optional<double> value = parse_float(text);
      if (!value) return describe_problem(text, wanted.type);
      const bool is_narrow = wanted.type == TextType::kFloat32;
      const auto narrow = static_cast<float>(*value);
      if ((is_narrow ? std::isinf(narrow) : std::isinf(*value)) && is_overflow(text))
        return show_text(text) + " is too large for " + (is_narrow ? "float32" : "float64");
      is_narrow ? put(place, narrow) : put(place, *value);
      return std::nullopt;
    }
    default:
      if (!parse_integer(text, wanted.type, place)) return describe_problem(text, wanted.type);
      return std::nullopt;
  }
}

}  // namespace

TextParser::TextParser(std::string name, TextLayout layout)
    : name_(std::move(name)),
      layout_((require_valid(layout), std::move(layout))),
      plain_(layout_),
      wanted_(list_wanted_fields(layout_)),
      num_needed_(num_fields_needed(layout_)) {}

void TextParser::learn_num_fields(std::string_view lines, std::int64_t first_line) {
  if (knows_num_fields()) return;
  std::vector<TextField> fields;
  for (std::int64_t line = first_line; !lines.empty(); ++line) {
    const std::string_view text = take_line(lines);
    if (!is_row(text, layout_.format)) continue;
    if (split_row(text, layout_.format, fields) || fields.size() < num_needed_) continue;
    num_fields_ = fields.size();
    first_row_line_ = line;
    return;
  }
}

ParsedPiece TextParser::parse(std::string_view lines, std::int64_t first_line,
                              std::vector<TextTarget>& targets) const {
  ParsedPiece piece;
  std::vector<TextField> fields;
  const char* p = lines.data();
  const char* const end = p + lines.size();
  // Lines that are no rows, so far. With the rows, they tell the number of the line.
  std::size_t num_others = 0;
  while (p != end) {
    p = plain_.read_pairs(p, end, num_fields_, targets, piece.num_rows);
    if (p == end) break;
    if (const char* const next = plain_.read_row(lines, p, num_fields_, targets, piece.num_rows)) {
      ++piece.num_rows;
      p = next;
      continue;
    }
    drop_text(targets, piece.num_rows);
    std::string_view rest(p, static_cast<std::size_t>(end - p));
    const std::string_view text = take_line(rest);
    p = rest.data();
    if (!is_row(text, layout_.format)) {
      ++num_others;
      continue;
    }
    const std::int64_t line = first_line + static_cast<std::int64_t>(piece.num_rows + num_others);
    std::optional<std::string> problem = parse_row(text, line, targets, piece.num_rows, fields);
    if (!problem) {
      ++piece.num_rows;
      continue;
    }
    drop_text(targets, piece.num_rows);
    ++num_others;
    ++piece.num_bad;
    if (piece.problems.size() < kMaxExamples) piece.problems.push_back(std::move(*problem));
    if (!layout_.skip_errors) break;
  }
  return piece;
}

std::optional<std::string> TextParser::parse_row(std::string_view text, std::int64_t line,
                                                 std::vector<TextTarget>& targets, std::size_t row,
                                                 std::vector<TextField>& fields) const {
  const auto at_field = [&](std::size_t field) {
    return say(at_line(line), ", column ", field + 1, ": ");
  };
  if (text.size() > layout_.longest_line) return at_line(line) + ": " + describe_long_line(layout_);
  if (const auto problem = split_row(text, layout_.format, fields))
    return at_field(problem->field) + problem->what;
  const bool are_as_many = !num_fields_ || fields.size() == *num_fields_;
  if (fields.size() < num_needed_ || !are_as_many)
    return at_line(line) + ": " + describe_count(fields.size(), line);
  for (const WantedField& wanted : wanted_) {
    if (auto problem = parse_field(fields[wanted.field], wanted, targets[wanted.output],
                                   wanted.place(targets, row), row))
      return at_field(wanted.field) + *problem;
  }
  return std::nullopt;
}

std::string TextParser::at_line(std::int64_t line) const {
  return say(name_, ", line ", line);
}

std::string TextParser::describe_count(std::size_t count, std::int64_t line) const {
  const std::string has = say(count, count == 1 ? " field" : " fields");
  if (num_fields_ && line > first_row_line_)
    return say(has, ", where the first row has ", *num_fields_);
  const std::optional<char> delimiter = layout_.format.delimiter;
  return say(has, ", where column ", num_needed_, " is wanted; pass delimiter= if ",
             (delimiter ? show_text({&*delimiter, 1}) : "a run of blanks"),
             " is not what separates them");
}

}  // namespace graphmount
