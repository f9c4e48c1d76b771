// Sorts edges that are in memory into the neighbor lists of one direction.
//
// The result does not depend on the number of threads: lists are sorted by neighbor (for temporal
// graphs by time, then neighbor), equal entries by their row in the source.
#pragma once

#include <cstdint>
#include <vector>

#include "graphmount/edge_columns.hpp"
#include "graphmount/types.hpp"

namespace graphmount {

/// What becomes of edges between the same two nodes (at the same time, where edges have times).
enum class Dedup { kKeepAll, kKeepFirst, kSumWeights };

inline constexpr std::uint64_t kMaxNodes = std::uint64_t{1} << 47;

struct ListOptions {
  std::uint64_t num_nodes = 0;  // at most kMaxNodes
  bool undirected = false;
  Dedup dedup = Dedup::kKeepAll;
  bool drop_self_loops = false;
  bool keep_rows = true;  // without rows, weights and times, sorting takes half the memory
};

struct NeighborLists {
  std::vector<std::int64_t> indptr;
  std::vector<NodeId> neighbors;
  std::vector<std::int64_t> rows;   // the source row each entry came from; empty if not kept
  std::vector<float> weights;       // empty without weights
  std::vector<std::int64_t> times;  // empty without times
};

/// The edges must have passed `check_edges`.
NeighborLists build_lists(const EdgeColumns& edges, Direction direction,
                          const ListOptions& options);

/// The same edges as lists of the other direction. Their `rows` are positions in `lists`.
NeighborLists reverse_lists(const NeighborLists& lists);

}  // namespace graphmount
