// The same number of random neighbors for each of many nodes, as one matrix: what GraphZero calls a
// batch fanout. A pure function of graph, nodes, options and key; what a row draws depends on its
// place only.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/random.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/sampling/neighbors/list_picker.hpp"
#include "graphmount/system/memory/result_memory.hpp"

namespace graphmount {

struct FanoutOptions {
  Direction direction = Direction::kIn;
  std::uint64_t k = 0;
  PickRule rule = {};
  /// What fills the row of a node with fewer neighbors: the same neighbors again, each equally
  /// often and the remainder at random; or -1. For a node without neighbors: the node itself, or
  /// -1.
  bool repeat = true;
  RandomKey key = RandomKey(0);
};

/// Row by row, k neighbors for each node. Throws IdError, MissingDataError, FormatError,
/// FileChangedError, BudgetError.
ResultBuffer random_fanout(const Graph& graph, std::span<const NodeId> nodes,
                           const FanoutOptions& options);

}  // namespace graphmount
