// How often the walks from each start visit each node: personalised PageRank, approximately,
// without keeping the walks.
//
// Walkers of start i have the numbers [i * num_walks, (i + 1) * num_walks), and walk as those of
// `random_walk` do. All length + 1 places of a walk count, the start among them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graphmount/sampling/walks/walk_options.hpp"

namespace graphmount {

/// The visits of start i are the entries [indptr[i], indptr[i + 1]): most visits first, and nodes
/// visited as often by their ids.
struct VisitCounts {
  std::vector<std::int64_t> indptr;
  std::vector<NodeId> nodes;
  std::vector<std::int64_t> counts;
};

/// Counts the visits of `walkers.walks_per_start` walks from each start; of `top`, if there is one,
/// only the nodes visited most. Throws what `random_walk` throws.
VisitCounts count_visits(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                         std::optional<std::uint64_t> top);

}  // namespace graphmount
