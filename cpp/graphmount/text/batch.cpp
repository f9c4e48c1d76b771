#include "graphmount/text/batch.hpp"

#include <cstdint>
#include <cstring>

#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

// Puts the text of output `i` together. The ends of texts, which counted from the start of their
// pieces, count from the start of the whole then.
void join_text(TextBatch& batch, std::size_t i, const std::vector<TextPiece>& pieces) {
  TextArray& array = batch.arrays[i];
  std::vector<std::size_t> starts;
  std::size_t text_bytes = 0;
  for (const TextPiece& piece : pieces) {
    starts.push_back(text_bytes);
    text_bytes += piece.text[i].size();
  }
  array.text.resize(text_bytes);
  std::memset(array.items.data(), 0, sizeof(std::int64_t));
  parallel_each(pieces.size(), 1, [&](std::size_t k) {
    const std::string& text = pieces[k].text[i];
    // Memory for no text at all is null, which memcpy does not take.
    if (!text.empty()) std::memcpy(array.text.data() + starts[k], text.data(), text.size());
    auto* const ends = reinterpret_cast<std::int64_t*>(array.row(pieces[k].first_row));
    for (std::size_t row = 0; row < pieces[k].num_rows; ++row)
      ends[row] += static_cast<std::int64_t>(starts[k]);
  });
}

}  // namespace

std::byte* TextArray::row(std::size_t row) {
  // The first offset of text is where the first row starts.
  return items.data() + (row + (type == TextType::kText ? 1 : 0)) * row_bytes();
}

TextBatch make_batch(const std::vector<TextOutput>& outputs, std::size_t num_lines,
                     std::vector<StreamBufferPool>& memory) {
  TextBatch batch;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    TextArray& array = batch.arrays.emplace_back();
    array.type = outputs[i].type;
    array.num_fields = outputs[i].fields.size();
    array.items = memory[i].take((num_lines + 1) * array.row_bytes());
  }
  return batch;
}

void copy_rows(TextBatch& from, std::size_t num_rows, TextBatch& to) {
  for (std::size_t i = 0; i < from.arrays.size(); ++i)
    std::memcpy(to.arrays[i].row(0), from.arrays[i].row(0), num_rows * to.arrays[i].row_bytes());
}

std::vector<TextTarget> make_targets(TextBatch& batch, TextPiece& piece) {
  piece.text.resize(batch.arrays.size());
  std::vector<TextTarget> targets;
  for (std::size_t i = 0; i < batch.arrays.size(); ++i) {
    TextArray& array = batch.arrays[i];
    const bool is_text = array.type == TextType::kText;
    targets.push_back({array.row(piece.first_row), is_text ? &piece.text[i] : nullptr});
  }
  return targets;
}

void join_pieces(TextBatch& batch, std::vector<TextPiece>& pieces) {
  batch.num_rows = 0;
  for (TextPiece& piece : pieces) {
    if (batch.num_rows != piece.first_row)
      for (TextArray& array : batch.arrays)
        std::memmove(array.row(batch.num_rows), array.row(piece.first_row),
                     piece.num_rows * array.row_bytes());
    piece.first_row = batch.num_rows;
    batch.num_rows += piece.num_rows;
  }
  for (std::size_t i = 0; i < batch.arrays.size(); ++i)
    if (batch.arrays[i].type == TextType::kText) join_text(batch, i, pieces);
}

}  // namespace graphmount
