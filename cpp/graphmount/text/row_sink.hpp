// Where rows go while they are read, piece by piece, if they can: past the arrays that batches are
// made of, so that the row is still in the processor's cache when it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace graphmount {

/// Consecutive rows of a table: the items of each of its outputs, one after the other.
struct RowPiece {
  std::span<const std::byte* const> outputs;
  std::size_t num_rows;
};

class RowSink {
 public:
  virtual ~RowSink() = default;

  /// Takes the rows that come next, and tells where they will be written; nothing if they are not
  /// what can be taken, and nobody offers what is behind them then. Called for one piece after the
  /// other, in their order.
  virtual std::optional<std::uint64_t> take(const RowPiece& piece) = 0;

  /// Writes rows that were taken to their place. Called by several threads at once.
  virtual void write(const RowPiece& piece, std::uint64_t place) = 0;
};

}  // namespace graphmount
