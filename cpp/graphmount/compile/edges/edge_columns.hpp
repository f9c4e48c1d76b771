// Edges as they come from a source: columns in memory, checked before anything is made of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "graphmount/base/types.hpp"

namespace graphmount {

/// More nodes than any file could hold.
inline constexpr std::uint64_t kMaxNodes = std::uint64_t{1} << 47;

/// Edges as columns; row e is the edge src[e] -> dst[e].
struct EdgeColumns {
  std::span<const NodeId> src;
  std::span<const NodeId> dst;
  std::optional<std::span<const float>> weights;
  std::optional<std::span<const std::int64_t>> times;

  std::uint64_t size() const { return src.size(); }
};

/// What the weight of an edge can be.
inline bool is_edge_weight(float weight) {
  return std::isfinite(weight) && weight >= 0;
}

/// Throws the SourceError for a row that `check_edges` found to be good, and is so no more.
[[noreturn]] void refuse_changed_edge(std::uint64_t row);

/// How many ids the ends of edges can have: of one node type, or of two.
struct EdgeEnds {
  std::uint64_t num_sources = kMaxNodes;
  std::uint64_t num_destinations = kMaxNodes;
  bool are_of_two_types = false;
};

/// Throws SourceError, naming the row, if an id is negative or too large, or a weight is negative
/// or not finite. Rows are counted from `first_row`. Throws std::invalid_argument if the columns
/// are not of one length.
void check_edges(const EdgeColumns& edges, const EdgeEnds& ends, std::uint64_t first_row);

}  // namespace graphmount
