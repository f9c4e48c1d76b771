// The arrays of a batch, while pieces of its text are parsed into them and when all are.
//
// Space is made for as many rows as there are lines, and each piece writes where its rows would go
// if every line before were a row. Comments and such leave gaps, which are closed in the end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/memory/buffer_pool.hpp"
#include "graphmount/text/lines/layout.hpp"
#include "graphmount/text/lines/wanted_fields.hpp"

namespace graphmount {

/// The values of one output: rows times `num_fields` items, or for text one offset more than rows.
struct TextArray {
  TextType type;
  std::size_t num_fields;
  StreamBufferPool::Handle items;
  Buffer<std::byte, PageSize::kSmall> text;

  /// The item of a row; for text, where the row's text ends.
  std::byte* row(std::size_t row);
  std::size_t row_bytes() const { return num_fields * item_bytes(type); }
};

struct TextBatch {
  std::size_t num_rows = 0;
  std::vector<TextArray> arrays;
};

/// What has become of a piece.
struct TextPiece {
  std::size_t first_row = 0;  // where its rows were put
  std::size_t num_rows = 0;
  std::vector<std::string> text;  // of each output that is text
};

/// Arrays with space for so many rows, out of the memory that each output has.
TextBatch make_batch(const std::vector<TextOutput>& outputs, std::size_t num_lines,
                     std::vector<StreamBufferPool>& memory);

/// Copies the first rows of a batch whose pieces have not been joined to another.
void copy_rows(TextBatch& from, std::size_t num_rows, TextBatch& to);

/// Where to put the rows of a piece. `piece` must stay where it is.
std::vector<TextTarget> make_targets(TextBatch& batch, TextPiece& piece);

/// Puts the rows of all pieces next to each other, and their text.
void join_pieces(TextBatch& batch, std::vector<TextPiece>& pieces);

}  // namespace graphmount
