// The rows of the targets of a batch, and the sum or mean of the rows of each one's neighbors, made
// from rows where they lie: they are never put together in one matrix.
//
// Everything is summed in float32, in the order of edges and column by column, so results are the
// same for any number of threads, and wherever rows are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graphmount/table/row_conversion.hpp"

namespace graphmount {

/// What a batch gets for the neighbors of a target.
enum class Aggregation { kNone, kSum, kMean };

/// The edges of a batch by their target: those of target i come from the nodes with the numbers
/// `sources[starts[i]]` to `sources[starts[i + 1]]`. Targets are the first nodes of the batch.
struct NeighborEdges {
  std::span<const std::int64_t> starts, sources;

  std::size_t num_targets() const { return starts.empty() ? 0 : starts.size() - 1; }
};

/// Where rows are before, and where they go.
struct NeighborRows {
  std::span<const std::byte* const> stored;  // of each node, as `conversion` takes it
  std::size_t stored_bytes = 0;              // of each of them
  const RowConversion* conversion = nullptr;
  std::size_t columns = 0;
  float* own = nullptr;     // of targets
  float* result = nullptr;  // of their neighbors; zeros where there are none
};

/// Edges must be right, and rows be converted to float32 or be so already.
void sum_neighbors(const NeighborEdges& edges, const NeighborRows& rows, Aggregation aggregation);

}  // namespace graphmount
