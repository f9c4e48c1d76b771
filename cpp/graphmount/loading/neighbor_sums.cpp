#include "graphmount/loading/neighbor_sums.hpp"

#include <algorithm>
#include <vector>

#include "graphmount/base/read_once.hpp"
#include "graphmount/base/vector_loops.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kLeastTargets = 64;

/// Has memory fetch a row that is looked at later.
GRAPHMOUNT_INLINE void fetch(const std::byte* row, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
}

/// Sums so many columns, at most a tile, of the rows of some nodes, in registers.
template <class Width>
GRAPHMOUNT_INLINE void sum_tile(std::span<const std::int64_t> nodes, const std::byte* const* stored,
                                std::size_t column, Width count, float scale, float* out) {
  float sums[kTileColumns] = {};
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    // Read so that GCC takes one row after the other: it would add two at a time, and without
    // vectors, which takes twice as long.
    const std::int64_t node = read_once(nodes.data() + place);
    const float* const row = reinterpret_cast<const float*>(stored[node]) + column;
    for (std::size_t i = 0; i < count; ++i) sums[i] += row[i];
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = sums[i] * scale;
}

/// The same of rows that `conversion` makes floats of, one at a time, in `row`.
GRAPHMOUNT_INLINE void sum_converted(std::span<const std::int64_t> nodes, const NeighborRows& rows,
                                     float scale, float* row, float* out) {
  std::fill(out, out + rows.columns, 0.0F);
  for (const std::int64_t node : nodes) {
    rows.conversion->convert(rows.stored[static_cast<std::size_t>(node)],
                             reinterpret_cast<std::byte*>(row));
    for (std::size_t i = 0; i < rows.columns; ++i) out[i] += row[i];
  }
  for (std::size_t i = 0; i < rows.columns; ++i) out[i] *= scale;
}

GRAPHMOUNT_INLINE void sum_targets(const NeighborEdges& edges, const NeighborRows& rows,
                                   bool is_mean, std::size_t first, std::size_t last, float* row) {
  const std::byte* const* const stored = rows.stored.data();
  for (std::size_t target = first; target < last; ++target) {
    const auto begin = static_cast<std::size_t>(edges.starts[target]);
    const auto end = static_cast<std::size_t>(edges.starts[target + 1]);
    const auto nodes = edges.sources.subspan(begin, end - begin);
    // As many rows further on as this target has: they come while these are summed. Of very many
    // the first would be gone again by then.
    const std::size_t ahead = std::min(begin + kRowsAhead, edges.sources.size());
    const std::size_t most = std::min(2 * kRowsAhead, edges.sources.size() - ahead);
    for (const std::int64_t node : edges.sources.subspan(ahead, std::min(nodes.size(), most)))
      fetch(stored[node], rows.stored_bytes);
    float* const out = rows.result + target * rows.columns;
    const float scale = is_mean && !nodes.empty() ? 1.0F / static_cast<float>(nodes.size()) : 1.0F;
    if (nodes.size() == 1)  // as it is: a sum that begins with 0 has no -0
      rows.conversion->convert(stored[nodes[0]], reinterpret_cast<std::byte*>(out));
    else if (rows.conversion->is_copy())
      for_each_tile(rows.columns, [&](std::size_t at, auto width) __attribute__((always_inline)) {
        sum_tile(nodes, stored, at, width, scale, out + at);
      });
    else
      sum_converted(nodes, rows, scale, row, out);
  }
}

}  // namespace

void sum_neighbors(const NeighborEdges& edges, const NeighborRows& rows, Aggregation aggregation) {
  if (rows.columns == 0) return;
  const std::size_t count = edges.num_targets();
  parallel_for(
      count, balanced_grain(count, kLeastTargets), [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
          if (i + kRowsAhead < last) fetch(rows.stored[i + kRowsAhead], rows.stored_bytes);
          rows.conversion->convert(rows.stored[i],
                                   reinterpret_cast<std::byte*>(rows.own + i * rows.columns));
        }
        std::vector<float> row(rows.conversion->is_copy() ? 0 : rows.columns);
        run_vectorized([&]() __attribute__((always_inline)) {
          sum_targets(edges, rows, aggregation == Aggregation::kMean, first, last, row.data());
        });
      });
}

}  // namespace graphmount
