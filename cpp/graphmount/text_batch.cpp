#include "graphmount/text_batch.hpp"

#include <cstdint>
#include <cstring>

#include "graphmount/parallel.hpp"

namespace graphmount {
namespace {

std::unique_ptr<std::byte[]> allocate(std::size_t bytes) {
  // Not cleared: all of it that is used gets written.
  return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
}

// Puts the text of output `i` together. The ends of texts, which counted from the start of their
// pieces, count from the start of the whole then.
void join_text(TextBatch& batch, std::size_t i, const std::vector<TextPiece>& pieces) {
  TextArray& array = batch.arrays[i];
  std::vector<std::size_t> starts;
  for (const TextPiece& piece : pieces) {
    starts.push_back(array.text_bytes);
    array.text_bytes += piece.text[i].size();
  }
  array.text = allocate(array.text_bytes);
  std::memset(array.items.get(), 0, sizeof(std::int64_t));
  parallel_for(static_cast<std::int64_t>(pieces.size()), 1, [&](std::int64_t at, std::int64_t) {
    const auto k = static_cast<std::size_t>(at);
    std::memcpy(array.text.get() + starts[k], pieces[k].text[i].data(), pieces[k].text[i].size());
    auto* const ends = reinterpret_cast<std::int64_t*>(array.row(pieces[k].first_row));
    for (std::size_t row = 0; row < pieces[k].num_rows; ++row)
      ends[row] += static_cast<std::int64_t>(starts[k]);
  });
}

}  // namespace

std::byte* TextArray::row(std::size_t row) const {
  // The first offset of text is where the first row starts.
  return items.get() + (row + (type == TextType::kText ? 1 : 0)) * row_bytes();
}

TextBatch make_batch(const std::vector<TextOutput>& outputs, std::size_t num_lines) {
  TextBatch batch;
  for (const TextOutput& output : outputs) {
    TextArray& array = batch.arrays.emplace_back();
    array.type = output.type;
    array.num_fields = output.fields.size();
    array.items = allocate((num_lines + 1) * array.row_bytes());
  }
  return batch;
}

std::vector<TextTarget> make_targets(const TextBatch& batch, TextPiece& piece) {
  piece.text.resize(batch.arrays.size());
  std::vector<TextTarget> targets;
  for (std::size_t i = 0; i < batch.arrays.size(); ++i) {
    const TextArray& array = batch.arrays[i];
    const bool is_text = array.type == TextType::kText;
    targets.push_back({array.row(piece.first_row), is_text ? &piece.text[i] : nullptr});
  }
  return targets;
}

void join_pieces(TextBatch& batch, std::vector<TextPiece>& pieces) {
  batch.num_rows = 0;
  for (TextPiece& piece : pieces) {
    if (batch.num_rows != piece.first_row)
      for (const TextArray& array : batch.arrays)
        std::memmove(array.row(batch.num_rows), array.row(piece.first_row),
                     piece.num_rows * array.row_bytes());
    piece.first_row = batch.num_rows;
    batch.num_rows += piece.num_rows;
  }
  for (std::size_t i = 0; i < batch.arrays.size(); ++i)
    if (batch.arrays[i].type == TextType::kText) join_text(batch, i, pieces);
}

}  // namespace graphmount
