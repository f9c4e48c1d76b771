// The sink for text that becomes a feature file as it stands: its values have the type of the file,
// and its rows the order of the file. If they have keys, these are the numbers of the rows.
#pragma once

#include <cstdint>
#include <optional>

#include "graphmount/table/feature_writer.hpp"
#include "graphmount/text/lines/layout.hpp"
#include "graphmount/text/row_sink.hpp"

namespace graphmount {

class TextRowSink : public RowSink {
 public:
  /// Rows go behind what was appended to `writer`, which nobody else can use as long as the sink
  /// lives, and which must outlive it. Throws std::invalid_argument unless the outputs are values
  /// as the file has them and, at most, keys that are integers.
  TextRowSink(FeatureWriter& writer, const TextLayout& layout);

  std::optional<std::uint64_t> take(const RowPiece& piece) override;
  void write(const RowPiece& piece, std::uint64_t place) override;

 private:
  std::span<const std::byte> values_of(const RowPiece& piece) const;

  FeatureWriter::Shared writer_;
  bool has_keys_;
};

}  // namespace graphmount
