// What a text table looks like, and what is to be made of it.
//
// A table has one row a line. Its fields are separated by one character, or by blanks (any run of
// spaces and tabs). Blank lines and lines that begin with a comment character are no rows. A field
// that begins with a quote ends at the next one, two quotes in it stand for one, and it may hold
// anything but a line break. Blanks around a field do not belong to it, unless they are in quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmount {

/// A longer line is taken for a file that is no text table, whatever the budget is.
inline constexpr std::size_t kLongestLine = std::size_t{16} << 20;
/// And so is one of more fields: what is known of a field takes more than the field may.
inline constexpr std::size_t kMostFields = std::size_t{1} << 20;

struct TextFormat {
  /// The character between fields; none stands for blanks.
  std::optional<char> delimiter = ',';
  /// Lines that begin with one of these, blanks aside, are comments.
  std::string comments = "#%";
  /// Whether a field may be in double quotes.
  bool has_quotes = true;
  /// Whether the first row holds the names of the columns.
  bool has_header = false;
};

enum class TextType {
  kNodeId,   // an integer of at least 0, as int64
  kInteger,  // an integer, as int64
  kKey,      // an integer that names a node, as int64
  kTime,     // a date or time as in ISO 8601, as int64: seconds since 1970
  kFloat32,
  kFloat64,
  kText,  // UTF-8, as Arrow keeps it: offsets (int64) and bytes
};

/// One array to make: of the given fields (counted from 0) of each row, next to each other.
struct TextOutput {
  TextType type;
  std::vector<std::size_t> fields;
  /// Whether text may be empty, which an id may not: it is a value that is missing.
  bool may_be_empty = false;
};

struct TextLayout {
  TextFormat format;
  std::vector<TextOutput> outputs;
  /// Whether rows that cannot be read are counted and left out, rather than an error.
  bool skip_errors = false;
  /// Longer lines are an error: a line is in memory as a whole.
  std::size_t longest_line = kLongestLine;
};

/// What is wrong with a line that is longer than the layout allows.
std::string describe_long_line(const TextLayout& layout);

/// How many bytes the value of one field takes in the array; for text, in the offsets.
constexpr std::size_t item_bytes(TextType type) {
  return type == TextType::kFloat32 ? 4 : 8;
}

/// How many fields a row must have at least.
std::size_t num_fields_needed(const TextLayout& layout);

/// Throws std::invalid_argument if characters have two meanings, or an output is impossible.
void require_valid(const TextLayout& layout);

}  // namespace graphmount
