// Multi-hop neighbor sampling: seeds, some neighbors of each, some neighbors of those, with all
// nodes numbered anew in the order in which they appear.
//
// The result is a pure function of graph, seeds, options and key. What a node draws depends on the
// hop and on the node's place in the sample; nodes get their numbers by first appearance. So the
// number of threads changes nothing but the time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/random.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/sampling/neighbors/list_picker.hpp"
#include "graphmount/system/memory/result_memory.hpp"

namespace graphmount {

struct SampleOptions {
  Direction direction = Direction::kIn;
  std::vector<std::uint64_t> fanouts;  // one for each hop; kAllNeighbors for all
  PickRule rule = {};
  bool disjoint = false;  // a tree of its own for each seed; always so in time
  /// Whether the result has all edges between its nodes, as the lists of the direction have them,
  /// or those that were picked.
  bool induced = false;
  bool source_rows = false;  // edges have the rows of the source in place of their ids
  RandomKey key = RandomKey(0);
};

struct NeighborSample {
  ResultBuffer nodes;  // the seeds as they were given, then new nodes hop by hop
  /// The numbers of the sources of all edges, then those of their destinations.
  ResultBuffer edge_index;
  ResultBuffer edge_ids;
  /// Edges lie by target: those of target i are [indptr[i], indptr[i + 1]). There is one target for
  /// each node of all hops but the last. Empty if induced.
  ResultBuffer indptr;
  ResultBuffer batch;                           // if disjoint: the seed of each node
  std::vector<std::int64_t> num_sampled_nodes;  // seeds, then new nodes of each hop
  std::vector<std::int64_t> num_sampled_edges;  // of each hop; empty if induced
};

/// `times` has the time of each seed if the rule is temporal. Throws IdError, MissingDataError,
/// FormatError, FileChangedError, BudgetError (2^32 edges) and std::invalid_argument.
NeighborSample sample_neighbors(const Graph& graph, std::span<const NodeId> seeds,
                                std::span<const std::int64_t> times, const SampleOptions& options);

}  // namespace graphmount
