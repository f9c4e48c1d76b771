#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"

#include <utility>

namespace graphmount {

NeighborSample sample_neighbors(const Graph& graph, std::span<const NodeId> seeds,
                                std::span<const std::int64_t> times, const SampleOptions& options) {
  const Relation relation{.graph = &graph, .fanouts = {}};
  const NodeType type{.num_nodes = graph.num_nodes()};
  const TypeSeeds of_type{seeds, times};
  TypedSample sample = sample_typed({&relation, 1}, {&type, 1}, {&of_type, 1}, options);
  return {std::move(sample.types.front()), std::move(sample.relations.front())};
}

}  // namespace graphmount
