#include "graphmount/sampling/neighbors/typed_sampler.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/graph/list_reads.hpp"
#include "graphmount/sampling/neighbors/frontier_picks.hpp"
#include "graphmount/sampling/neighbors/sample_numbers.hpp"

namespace graphmount {
namespace {

bool counts_node_times(const SampleOptions& options) {
  return options.rule.temporal && options.time_of == TimeOf::kNodes;
}

/// The nodes of a type, as a sample grows.
struct GrowingType {
  TypeSample out;
  std::uint64_t num_nodes = 0;           // of the graph
  const FeatureMatrix* times = nullptr;  // of these, if they count
  Recycled<SampleNumbers> numbers;
  std::size_t num_items = 0;                   // seeds, and edges from neighbors of this type
  std::size_t frontier = 0, frontier_end = 0;  // the nodes that the hop before brought
};

/// The edges of a relation, as a sample grows.
struct GrowingRelation {
  GrowingRelation(const Relation& relation, const SampleOptions& options,
                  std::span<GrowingType> types)
      : graph(*relation.graph),
        fanouts(relation.fanouts.empty() ? options.fanouts : relation.fanouts),
        is_in(options.direction == Direction::kIn),
        neighbor_type(types[is_in ? relation.source_type : relation.destination_type]),
        target_type(types[is_in ? relation.destination_type : relation.source_type]),
        neighbors(is_in ? *out.edge_index : *second_ends),
        targets(is_in ? *second_ends : *out.edge_index) {}

  const Graph& graph;
  const std::vector<std::uint64_t>& fanouts;
  bool is_in;
  GrowingType &neighbor_type, &target_type;
  RelationSample out;
  ResultBuffer second_ends{6};  // the destinations, until all of them are known
  Buffer<std::int64_t>&neighbors, &targets;
  std::unique_ptr<HopPicks> picks;
  std::size_t num_edges = 0;

  void grow(std::size_t size) {
    out.edge_ids->grow(size);
    neighbors.grow(size);
    targets.grow(size);
  }

  /// Puts the second ends behind the first ones.
  void join_ends() {
    const std::size_t count = second_ends->size();
    out.edge_index->grow(2 * count);
    std::copy_n(second_ends->data(), count, out.edge_index->data() + count);
  }
};

class Sampling {
 public:
  Sampling(std::span<const Relation> relations, std::span<const NodeType> types,
           const SampleOptions& options)
      : options_(options), types_(types.size()) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      types_[i].num_nodes = types[i].num_nodes;
      if (counts_node_times(options)) types_[i].times = types[i].times;
    }
    for (const Relation& relation : relations)
      relations_.push_back(std::make_unique<GrowingRelation>(relation, options, types_));
    for (const auto& relation : relations_)
      if (relation->fanouts.size() != relations_.front()->fanouts.size())
        throw std::invalid_argument(say("one relation has ", relations_.front()->fanouts.size(),
                                        " fanouts, and another ", relation->fanouts.size(),
                                        "; give each one for every hop"));
  }

  TypedSample run(std::span<const TypeSeeds> seeds) {
    begin(seeds);
    with_times_from(0);
    TypedSample sample;
    for (GrowingType& type : types_) sample.types.push_back(std::move(type.out));
    for (auto& relation : relations_) sample.relations.push_back(std::move(relation->out));
    return sample;
  }

 private:
  void begin(std::span<const TypeSeeds> seeds) {
    for (std::size_t i = 0; i < types_.size(); ++i) begin(types_[i], seeds[i]);
    for (const auto& relation : relations_) {
      relation->grow(0);
      relation->out.indptr->grow(1);
      (*relation->out.indptr)[0] = 0;
    }
  }

  void begin(GrowingType& type, const TypeSeeds& seeds) {
    const std::size_t count = seeds.nodes.size();
    Buffer<std::int64_t>& nodes = *type.out.nodes;
    nodes.grow(count);
    std::copy(seeds.nodes.begin(), seeds.nodes.end(), nodes.data());
    // Of the copy: the caller's array may change between two looks.
    require_ids(nodes.span(), type.num_nodes, "node");
    type.out.num_sampled_nodes = {static_cast<std::int64_t>(count)};
    Buffer<std::int64_t>& trees = *type.out.batch;
    trees.grow(options_.disjoint ? count : 0);
    for (std::size_t i = 0; i < trees.size(); ++i)
      trees[i] = static_cast<std::int64_t>(num_trees_ + i);
    num_trees_ += trees.size();
    times_.insert(times_.end(), seeds.times.begin(), seeds.times.end());
    const NodeKeys keys = keys_of(type, type);
    type.numbers->begin(count, [&](std::size_t i) { return keys.key(nodes[i], i); });
    type.num_items = count;
    type.frontier_end = count;
  }

  /// Opens the times of the types from this one on, each inside of the one before, and samples.
  void with_times_from(std::size_t index) {
    if (index == types_.size()) return with_lists_from(0);
    if (types_[index].times == nullptr) return with_times_from(index + 1);
    types_[index].times->mount().file().read_guarded([&] { with_times_from(index + 1); });
  }

  /// Opens the lists of the relations from this one on, each inside of the one before, and samples.
  void with_lists_from(std::size_t index) {
    if (index == relations_.size()) return sample();
    GrowingRelation& relation = *relations_[index];
    const Graph& graph = relation.graph;
    read_lists(graph, options_.direction, [&]<class Index>(const ListView<Index>& lists) {
      PickRule rule = options_.rule;
      // Where others have times, a relation without them is there at any time.
      rule.temporal = rule.temporal && options_.time_of == TimeOf::kEdges &&
                      (has_times(graph) || !any_has_times());
      const FeatureMatrix* const times = relation.neighbor_type.times;
      rule.take_last = rule.take_last && (rule.temporal || times != nullptr);
      relation.picks = std::make_unique<FrontierPicks<Index>>(
          lists, rule, *frontier_, options_.source_rows ? &source_rows_of(graph) : nullptr,
          times == nullptr ? nullptr : times->mount().data<std::int64_t>(times->matrix()));
      with_lists_from(index + 1);
      relation.picks.reset();
    });
  }

  bool has_times(const Graph& graph) const {
    return graph.find(SectionKind::kTimestamps, options_.direction) != nullptr;
  }
  bool any_has_times() const {
    return std::ranges::any_of(relations_,
                               [&](const auto& relation) { return has_times(relation->graph); });
  }

  void sample() {
    const std::size_t num_hops = relations_.empty() ? 0 : relations_.front()->fanouts.size();
    for (std::size_t hop = 0; hop < num_hops; ++hop) {
      for (std::size_t i = 0; i < relations_.size(); ++i)
        sample_hop(*relations_[i], hop, options_.key.with(hop | std::uint64_t{i} << 32));
      for (GrowingType& type : types_) {
        type.frontier = type.frontier_end;
        type.frontier_end = type.out.nodes->size();
        type.out.num_sampled_nodes.push_back(
            static_cast<std::int64_t>(type.frontier_end - type.frontier));
      }
    }
    for (const auto& relation : relations_) {
      if (options_.induced) induce(*relation);
      relation->join_ends();
      if (options_.source_rows) name_edges(*relation);
    }
  }

  void sample_hop(GrowingRelation& relation, std::size_t hop, RandomKey key) {
    GrowingType &targets = relation.target_type, &neighbors = relation.neighbor_type;
    HopPicks& picks = *relation.picks;
    const std::size_t first = targets.frontier, count = targets.frontier_end - first;
    const std::uint64_t num_picks =
        picks.plan({.nodes = {targets.out.nodes->data() + first, count},
                    .first = first,
                    .times = times_of(targets, first),
                    .key = key,
                    .trees = options_.disjoint ? trees_of(targets) + first : nullptr,
                    .places = options_.places},
                   relation.fanouts[hop], SampleNumbers::kMostItems - neighbors.num_items);
    const std::size_t num_before = relation.num_edges;
    relation.grow(num_before + num_picks);
    const PickedEdges picked{relation.out.edge_ids->data() + num_before,
                             relation.neighbors.data() + num_before,
                             relation.targets.data() + num_before};
    const std::size_t next = neighbors.out.nodes->size();
    SampleNumbers& numbers = *neighbors.numbers;
    numbers.begin_hop(next, num_picks, picks.chunks().size());
    const auto key_of = [&picked, keys = keys_of(neighbors, targets)](std::size_t i) {
      return keys.key(picked.neighbors[i], static_cast<std::size_t>(picked.targets[i]));
    };
    picks.pick(picked, [&](const PickChunk& chunk) {
      const auto index = static_cast<std::size_t>(&chunk - picks.chunks().data());
      numbers.add_chunk(index, chunk.begin, chunk.end, picked.neighbors, key_of);
    });
    neighbors.out.nodes->grow(next + numbers.num_new());
    if (options_.disjoint) neighbors.out.batch->grow(next + numbers.num_new());
    // After it has grown: targets may be of the same type.
    numbers.write(picked.targets, trees_of(targets), neighbors.out.nodes->data(),
                  options_.disjoint ? neighbors.out.batch->data() : nullptr);
    Buffer<std::int64_t>& indptr = *relation.out.indptr;
    indptr.grow(first + count + 1);
    for (std::size_t i = 0; i < count; ++i)
      indptr[first + i] = static_cast<std::int64_t>(num_before + picks.starts()[i]);
    indptr[first + count] = static_cast<std::int64_t>(num_before + num_picks);
    relation.num_edges += num_picks;
    neighbors.num_items += num_picks;
    relation.out.num_sampled_edges.push_back(static_cast<std::int64_t>(num_picks));
  }

  void induce(GrowingRelation& relation) {
    relation.out.num_sampled_edges.clear();
    relation.out.indptr->resize(0);
    const GrowingType &targets = relation.target_type, &neighbors = relation.neighbor_type;
    relation.picks->induce({.nodes = targets.out.nodes->span(), .times = times_of(targets, 0)},
                           neighbors.out.nodes->span(), *neighbors.numbers,
                           keys_of(neighbors, targets),
                           {relation.neighbors, relation.targets, *relation.out.edge_ids});
  }

  /// In a loop of its own: among the picks, which wait for memory as well, it took longer.
  void name_edges(GrowingRelation& relation) const {
    const auto ids = relation.out.edge_ids->span();
    gather_source_rows(relation.graph, ids, ids);
  }

  const std::int64_t* trees_of(const GrowingType& type) const {
    return options_.disjoint ? type.out.batch->data() : nullptr;
  }

  NodeKeys keys_of(const GrowingType& neighbors, const GrowingType& targets) const {
    return {neighbors.num_nodes, trees_of(targets)};
  }

  TargetTimes times_of(const GrowingType& targets, std::size_t first) const {
    if (!options_.rule.temporal) return {};
    return {times_.data(), targets.out.batch->data() + first};
  }

  const SampleOptions& options_;
  Recycled<FrontierScratch> frontier_;
  std::vector<GrowingType> types_;
  std::vector<std::unique_ptr<GrowingRelation>> relations_;
  std::vector<std::int64_t> times_;  // of each tree
  std::size_t num_trees_ = 0;
};

void require_seeds(std::span<const TypeSeeds> seeds, std::span<const NodeType> types,
                   const SampleOptions& options) {
  if (seeds.size() != types.size())
    throw std::invalid_argument(
        say("there are seeds for ", seeds.size(), " types of ", types.size()));
  std::uint64_t num_seeds = 0;
  for (const TypeSeeds& of_type : seeds) {
    if (options.rule.temporal && of_type.times.size() != of_type.nodes.size())
      throw std::invalid_argument(say("there are ", of_type.times.size(), " times for ",
                                      of_type.nodes.size(), " seeds; give one for each seed"));
    num_seeds += of_type.nodes.size();
  }
  if (num_seeds >= SampleNumbers::kMostItems)
    throw BudgetError("there are more than 2^32 seeds; sample fewer at a time");
  for (const NodeType& type : types)
    if (options.disjoint && !checked_multiply(num_seeds, type.num_nodes))
      throw BudgetError("there are too many seeds for disjoint trees in a graph of this size");
}

/// That the times which count are there, and are times of these nodes.
void require_node_times(std::span<const Relation> relations, std::span<const NodeType> types,
                        const SampleOptions& options) {
  for (const NodeType& type : types) {
    if (type.times == nullptr) continue;
    const Section& table = type.times->matrix();
    const std::string& path = type.times->mount().file().path();
    if (table.dtype != DType::kInt64 || table.columns != 1)
      throw std::invalid_argument(say(path, ": times of nodes are one column of int64, not ",
                                      table.columns, " of ", traits_of(table.dtype).name));
    if (table.rows != type.num_nodes)
      throw std::invalid_argument(say(path, ": there are times for ", table.rows, " nodes, and ",
                                      type.num_nodes,
                                      " nodes of their type; this file is of another dataset"));
  }
  const auto is_timed = [&](const Relation& relation) {
    const bool is_in = options.direction == Direction::kIn;
    return types[is_in ? relation.source_type : relation.destination_type].times != nullptr;
  };
  if (!relations.empty() && std::ranges::none_of(relations, is_timed))
    throw MissingDataError(relations.front().graph->mount().file().path(),
                           "no nodes that can be drawn have times to compare the time with; "
                           "compile the dataset with timestamps= for a node type, or sample by "
                           "the times of edges or without time=");
}

void require_relations(std::span<const Relation> relations, std::span<const NodeType> types) {
  if (relations.size() > UINT32_MAX) throw std::invalid_argument("there are too many relations");
  for (const Relation& relation : relations) {
    const Graph& graph = *relation.graph;
    if (relation.source_type >= types.size() || relation.destination_type >= types.size())
      throw std::invalid_argument(say("a relation leads from type ", relation.source_type, " to ",
                                      relation.destination_type, ", of ", types.size(), " types"));
    if (graph.num_sources() != types[relation.source_type].num_nodes ||
        graph.num_destinations() != types[relation.destination_type].num_nodes)
      throw std::invalid_argument(
          say(graph.mount().file().path(), ": the edges lead from ", graph.num_sources(),
              " nodes to ", graph.num_destinations(), ", and the types have ",
              types[relation.source_type].num_nodes, " and ",
              types[relation.destination_type].num_nodes, "; this file is of another dataset"));
  }
}

void require_rule(const PickRule& rule, bool disjoint) {
  if (rule.temporal && !disjoint)
    throw std::invalid_argument("sampling in time needs disjoint=True: each seed has its own time");
  if (rule.take_last && (rule.weighted || rule.replace))
    throw std::invalid_argument(
        "the most recent neighbors are taken once each, whatever their weights: "
        "temporal_strategy='last' goes neither with weighted=True nor with replace=True");
}

}  // namespace

TypedSample sample_typed(std::span<const Relation> relations, std::span<const NodeType> types,
                         std::span<const TypeSeeds> seeds, const SampleOptions& options) {
  require_seeds(seeds, types, options);
  require_relations(relations, types);
  require_rule(options.rule, options.disjoint);
  if (counts_node_times(options)) require_node_times(relations, types, options);
  return Sampling(relations, types, options).run(seeds);
}

}  // namespace graphmount
