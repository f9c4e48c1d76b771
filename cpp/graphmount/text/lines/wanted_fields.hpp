// The layout of a table as the parsers follow it: the fields that are wanted, in their
// order, and where the value of each goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graphmount/text/lines/layout.hpp"

namespace graphmount {

/// Where the rows of a piece of a table go, for one output.
struct TextTarget {
  /// The item of the first row; for text, where the first row's text ends in `text`.
  std::byte* items = nullptr;
  /// For text only: all there is of it.
  std::string* text = nullptr;
};

struct WantedField {
  std::size_t field;      // which field of the row
  TextType type;          // what to make of it
  std::size_t output;     // where it goes,
  std::size_t row_bytes;  // where a row takes so much,
  std::size_t offset;     // of which the field's part starts here
  bool may_be_empty;      // see TextOutput
  /// How many fields, from this one on, are floats of one type that lie next to each other, both
  /// in the line and in the output; 1 if it is of another type.
  std::size_t run = 1;

  std::byte* place(const std::vector<TextTarget>& targets, std::size_t row) const {
    return targets[output].items + row * row_bytes + offset;
  }
};

std::vector<WantedField> list_wanted_fields(const TextLayout& layout);

/// Forgets text of `row` and of later ones.
void drop_text(std::vector<TextTarget>& targets, std::size_t row);

/// Adds the text of `row`.
void add_text(const TextTarget& target, std::size_t row, std::string_view text);

}  // namespace graphmount
