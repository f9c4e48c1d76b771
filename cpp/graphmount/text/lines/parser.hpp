// The parser of text tables: a piece of whole lines in, rows of numbers and text out.
//
// Plain lines are read the fast way (plain_lines.hpp), all others the careful one, with the same
// result. The parser knows no files and no threads: many pieces may be parsed at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graphmount/text/lines/fields.hpp"
#include "graphmount/text/lines/layout.hpp"
#include "graphmount/text/lines/plain_lines.hpp"
#include "graphmount/text/lines/wanted_fields.hpp"

namespace graphmount {

/// How many messages about rows that were left out are kept.
inline constexpr std::size_t kMaxExamples = 10;

struct ParsedPiece {
  std::size_t num_rows = 0;
  /// Rows that could not be read. Parsing stops at the first one, unless they are to be skipped.
  std::size_t num_bad = 0;
  /// What is wrong with the first of them, each with file, line and column.
  std::vector<std::string> problems;
};

class TextParser {
 public:
  /// `name` is what messages call the file. Throws std::invalid_argument for a bad layout.
  TextParser(std::string name, TextLayout layout);

  const std::string& name() const { return name_; }
  const TextLayout& layout() const { return layout_; }

  /// All rows must have as many fields as the first. The first line of `lines` that can be it,
  /// which has all the fields that are wanted, sets their number, unless it is known or fields are
  /// separated by blanks. Lines are counted from 1.
  void learn_num_fields(std::string_view lines, std::int64_t first_line);

  /// Whether there is nothing to learn, or no longer.
  bool knows_num_fields() const { return num_fields_ || !layout_.format.delimiter; }

  /// Parses lines, each of which ends with a line break. There must be space in the targets for one
  /// row more than there are; it need not be more than there are lines.
  ParsedPiece parse(std::string_view lines, std::int64_t first_line,
                    std::vector<TextTarget>& targets) const;

 private:
  std::optional<std::string> parse_row(std::string_view row_text, std::int64_t line,
                                       std::vector<TextTarget>& targets, std::size_t row,
                                       std::vector<TextField>& fields) const;
  std::string at_line(std::int64_t line) const;
  std::string describe_count(std::size_t count, std::int64_t line) const;

  std::string name_;
  TextLayout layout_;
  PlainLines plain_;
  std::vector<WantedField> wanted_;
  std::size_t num_needed_;
  std::optional<std::size_t> num_fields_;
  std::int64_t first_row_line_ = 0;
};

}  // namespace graphmount
