#include "graphmount/loading/sampled_graph.hpp"

#include <stdexcept>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/graph/list_reads.hpp"

namespace graphmount {

SampledGraph::SampledGraph(std::vector<SampledType> types, std::vector<SampledRelation> relations) {
  for (SampledType& type : types) {
    types_.push_back({type.num_nodes, type.times.get()});
    ids_.push_back(std::move(type.ids));
    times_.push_back(std::move(type.times));
  }
  for (SampledRelation& relation : relations) {
    relations_.push_back({.graph = relation.graph.get(),
                          .source_type = relation.source_type,
                          .destination_type = relation.destination_type,
                          .fanouts = std::move(relation.fanouts)});
    graphs_.push_back(std::move(relation.graph));
  }
}

SampledGraph SampledGraph::of_one_kind(std::shared_ptr<const Graph> graph, bool has_ids) {
  SampledType type{.num_nodes = graph->num_nodes()};
  if (has_ids) type.ids.emplace(graph);
  return {{std::move(type)}, {{std::move(graph)}}};
}

TypedSample SampledGraph::sample(const BatchSeeds& seeds, const SampleOptions& options) const {
  std::vector<TypeSeeds> of_types(num_types());
  const auto add = [&](std::size_t type, TypeSeeds of_type) {
    if (type >= of_types.size())
      throw std::invalid_argument(say("seeds are of type ", type, " of ", of_types.size()));
    of_types[type] = of_type;
  };
  add(seeds.type, {seeds.nodes, seeds.times});
  if (!seeds.destinations.empty())
    add(seeds.destination_type, {seeds.destinations, seeds.destination_times});
  return sample_typed(relations_, types_, of_types, options);
}

void SampledGraph::name_nodes(TypedSample& sample) const {
  for (std::size_t type = 0; type < ids_.size(); ++type) {
    const auto nodes = sample.types[type].nodes->span();
    if (ids_[type]) ids_[type]->to_external(nodes, nodes);
  }
}

void SampledGraph::name_edges(TypedSample& sample) const {
  for (std::size_t relation = 0; relation < graphs_.size(); ++relation) {
    const auto ids = sample.relations[relation].edge_ids->span();
    gather_source_rows(*graphs_[relation], ids, ids);
  }
}

std::span<const std::int64_t> ids_of(const TypedSample& sample, IdSpace space) {
  return space.kind == IdSpace::Kind::kEdges ? sample.relations[space.number].edge_ids->span()
                                             : sample.types[space.number].nodes->span();
}

}  // namespace graphmount
