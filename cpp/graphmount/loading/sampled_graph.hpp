// What batches are sampled from: types of nodes and the relations between them, whose files stay
// open. A graph of one kind is one type and one relation.
//
// All calls may overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graphmount/graph/node_ids.hpp"
#include "graphmount/loading/seed_source.hpp"
#include "graphmount/sampling/neighbors/typed_sampler.hpp"

namespace graphmount {

struct SampledType {
  std::uint64_t num_nodes = 0;
  std::optional<NodeIds> ids = {};  // what the source calls the nodes, if that is not their number
  std::shared_ptr<const FeatureMatrix> times = {};  // of the nodes, if they have any
};

struct SampledRelation {
  std::shared_ptr<const Graph> graph;
  std::size_t source_type = 0, destination_type = 0;
  std::vector<std::uint64_t> fanouts = {};  // if there are none, those of all
};

class SampledGraph {
 public:
  SampledGraph(std::vector<SampledType> types, std::vector<SampledRelation> relations);

  /// One type and one relation. Throws MissingDataError if ids of the source are wanted and the
  /// graph has none.
  static SampledGraph of_one_kind(std::shared_ptr<const Graph> graph, bool has_ids);

  std::size_t num_types() const { return types_.size(); }
  std::size_t num_relations() const { return relations_.size(); }
  /// The types of the sources and of the destinations of a relation that there is.
  std::pair<std::size_t, std::size_t> ends_of(std::size_t relation) const {
    return {relations_[relation].source_type, relations_[relation].destination_type};
  }
  bool is_of_one_kind() const { return num_types() == 1 && num_relations() == 1; }

  /// Whether there is such a type or relation.
  bool has(IdSpace space) const {
    return space.number < (space.kind == IdSpace::Kind::kNodes ? num_types() : num_relations());
  }

  /// Throws what sample_typed does, and std::invalid_argument if seeds are of a type that does not
  /// exist.
  TypedSample sample(const BatchSeeds& seeds, const SampleOptions& options) const;

  /// Puts the ids of the source in the place of our own, in the same memory.
  void name_nodes(TypedSample& sample) const;
  /// Puts the rows of the source in the place of edge ids, in the same memory.
  void name_edges(TypedSample& sample) const;

 private:
  std::vector<NodeType> types_;
  std::vector<std::optional<NodeIds>> ids_;
  std::vector<std::shared_ptr<const FeatureMatrix>> times_;
  std::vector<std::shared_ptr<const Graph>> graphs_;
  std::vector<Relation> relations_;
};

/// The ids of a sample in a space that it has: the rows that it needs from a table.
std::span<const std::int64_t> ids_of(const TypedSample& sample, IdSpace space);

}  // namespace graphmount
