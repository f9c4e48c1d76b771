#include "graphmount/compile/text_row_sink.hpp"

#include <stdexcept>

namespace graphmount {
namespace {

std::optional<DType> dtype_of(TextType type) {
  switch (type) {
    case TextType::kFloat32:
      return DType::kFloat32;
    case TextType::kFloat64:
      return DType::kFloat64;
    case TextType::kInteger:
      return DType::kInt64;
    default:
      return std::nullopt;
  }
}

bool is_key(const TextOutput& output) {
  return output.fields.size() == 1 &&
         (output.type == TextType::kNodeId || output.type == TextType::kKey);
}

// Whether these are the numbers from `first` on.
bool count_from(std::uint64_t first, const std::byte* keys, std::size_t count) {
  const auto* const numbers = reinterpret_cast<const std::uint64_t*>(keys);
  std::uint64_t differences = 0;  // all of them, rather than up to the first: there are few
  for (std::size_t i = 0; i < count; ++i) differences |= numbers[i] ^ (first + i);
  return differences == 0;
}

}  // namespace

TextRowSink::TextRowSink(FeatureWriter& writer, const TextLayout& layout)
    : writer_(writer), has_keys_(layout.outputs.size() > 1) {
  const Section& matrix = writer_.matrix();
  const bool are_values = !layout.outputs.empty() &&
                          dtype_of(layout.outputs[0].type) == matrix.dtype &&
                          layout.outputs[0].fields.size() == matrix.columns;
  if (!are_values || layout.outputs.size() > 2 || (has_keys_ && !is_key(layout.outputs[1])))
    throw std::invalid_argument("the text has other columns than the file");
}

std::span<const std::byte> TextRowSink::values_of(const RowPiece& piece) const {
  return {piece.outputs[0], piece.num_rows * writer_.row_bytes()};
}

std::optional<std::uint64_t> TextRowSink::take(const RowPiece& piece) {
  const std::uint64_t first = writer_.num_rows();
  const std::optional<std::uint64_t> wanted = writer_.rows_wanted();
  if (wanted && piece.num_rows > *wanted - first) return std::nullopt;
  if (has_keys_ && !count_from(first, piece.outputs[1], piece.num_rows)) return std::nullopt;
  return writer_.take(values_of(piece));
}

void TextRowSink::write(const RowPiece& piece, std::uint64_t place) {
  writer_.write(place, values_of(piece));
}

}  // namespace graphmount
