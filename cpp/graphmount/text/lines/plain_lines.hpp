// The fast way through a text table: lines without quotes, comments, blanks around numbers and
// mistakes, which nearly all lines are.
//
// Each line is either read exactly as the careful way (parser.cpp) would, or left to it: these
// functions never complain. They look up to kTextPadding bytes behind the lines, which must be
// readable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graphmount/text/lines/layout.hpp"
#include "graphmount/text/lines/wanted_fields.hpp"

namespace graphmount {

/// How many bytes must be readable behind lines that are parsed.
inline constexpr std::size_t kTextPadding = 64;

class PlainLines {
 public:
  explicit PlainLines(const TextLayout& layout);

  /// Reads lines that are two integers, as long as there are such lines, into the rows from `row`
  /// on, which is moved on. Returns the first line that is not. Reads nothing if the layout is
  /// another than two integers.
  const char* read_pairs(const char* begin, const char* end, std::optional<std::size_t> num_fields,
                         const std::vector<TextTarget>& targets, std::size_t& row) const;

  /// Reads the line at `line`, one of `lines`. Returns where the next one starts, or nullptr if
  /// this one is not plain; what has been written into the row then means nothing.
  const char* read_row(std::string_view lines, const char* line,
                       std::optional<std::size_t> num_fields,
                       const std::vector<TextTarget>& targets, std::size_t row) const;

 private:
  template <bool kBlanks>
  const char* read_row_of(std::string_view lines, const char* line,
                          std::optional<std::size_t> num_fields,
                          const std::vector<TextTarget>& targets, std::size_t row) const;
  const char* skip_field(const char* p) const;
  const char* read_time(const char* p, std::byte* place) const;
  template <bool kBlanks>
  const char* read_text(const char* p, const TextTarget& target, std::size_t row) const;
  bool is(char c, unsigned kind) const {
    return (kinds_[static_cast<unsigned char>(c)] & kind) != 0;
  }

  char delimiter_ = '\0';
  std::size_t longest_line_ = kLongestLine;
  bool in_blanks_ = false;
  bool in_pairs_ = false;
  std::vector<WantedField> wanted_;
  std::array<unsigned char, 256> kinds_{};  // what a character means, see plain_lines.cpp
};

}  // namespace graphmount
