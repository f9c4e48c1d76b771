// Lines and their fields, by the rules of layout.hpp: the careful way, for any line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graphmount/text/lines/layout.hpp"

namespace graphmount {

/// A field without the blanks and quotes around it; it points into its line.
struct TextField {
  std::string_view text;
  bool is_quoted = false;
  /// Whether there are doubled quotes in it; `unescape` makes them single.
  bool has_escapes = false;
};

/// Where a line cannot be split, and why.
struct SplitProblem {
  std::size_t field;
  const char* what;
};

/// Whether c is a blank that does not separate fields of its own.
constexpr bool is_blank(char c, const TextFormat& format) {
  return (c == ' ' || c == '\t') && c != format.delimiter;
}

/// How many line breaks there are, counted many characters at a look.
std::size_t count_lines(std::string_view text);

/// Takes the first line off `text`, which must end with a line break, and returns it without one.
std::string_view take_line(std::string_view& text);

/// Whether a line is neither blank nor a comment.
bool is_row(std::string_view line, const TextFormat& format);

/// Splits a row into `fields`, which is cleared first.
std::optional<SplitProblem> split_row(std::string_view line, const TextFormat& format,
                                      std::vector<TextField>& fields);

/// The text of a quoted field with doubled quotes made single.
std::string unescape(std::string_view text);

}  // namespace graphmount
