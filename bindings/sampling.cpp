// Bindings of sampling: neighbors, walks and negatives.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "convert/arrays.hpp"
#include "convert/mounted_features.hpp"
#include "convert/relations.hpp"
#include "convert/results.hpp"
#include "convert/words.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"
#include "graphmount/sampling/neighbors/random_fanout.hpp"
#include "graphmount/sampling/walks/random_walk.hpp"
#include "graphmount/sampling/walks/skip_gram.hpp"
#include "graphmount/sampling/walks/visit_counts.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<DeadEnd> =
    make_words<DeadEnd>("dead_end", {{"stay", DeadEnd::kStay}, {"end", DeadEnd::kEnd}});

template <>
inline constexpr auto kWords<EdgeEnd> = make_words<EdgeEnd>(
    "corrupt", {{"source", EdgeEnd::kSource}, {"destination", EdgeEnd::kDestination}});

template <>
inline constexpr auto kWords<TimeOf> =
    make_words<TimeOf>("time_of", {{"edges", TimeOf::kEdges}, {"nodes", TimeOf::kNodes}});

namespace {

using nb::literals::operator""_a;

using IdColumn = Column<std::int64_t>;

ResultArray<2> fanout(const Graph& graph, const IdColumn& nodes, std::uint64_t k, bool replace,
                      bool weighted, bool repeat, Direction direction, std::uint64_t key) {
  const FanoutOptions options{.direction = direction,
                              .k = k,
                              .rule = {.replace = replace, .weighted = weighted},
                              .repeat = repeat,
                              .key = RandomKey(key)};
  return to_array<2>(without_gil([&] { return random_fanout(graph, to_span(nodes), options); }),
                     {nodes.size(), static_cast<std::size_t>(k)});
}

void make_sample_options(SampleOptions* self, const std::vector<std::int64_t>& fanouts,
                         bool replace, bool weighted, bool disjoint, bool temporal, bool take_last,
                         TimeOf time_of, bool induced, Direction direction, std::uint64_t key,
                         std::uint64_t rank, std::uint64_t world_size) {
  new (self) SampleOptions{.direction = direction,
                           .fanouts = to_fanouts(fanouts),
                           .rule = {.replace = replace,
                                    .weighted = weighted,
                                    .temporal = temporal,
                                    .take_last = take_last},
                           .time_of = time_of,
                           .disjoint = disjoint,
                           .induced = induced,
                           .key = RandomKey(key),
                           .places = {rank, world_size}};
}

/// Of one type and one relation.
TypedSample sample(const Graph& graph, const IdColumn& seeds, const IdColumn& times,
                   const SampleOptions& options) {
  NeighborSample found = sample_neighbors(graph, to_span(seeds), to_span(times), options);
  TypedSample sample;
  sample.types.push_back(std::move(static_cast<TypeSample&>(found)));
  sample.relations.push_back(std::move(static_cast<RelationSample&>(found)));
  return sample;
}

/// A node type is how many nodes it has, and their times or None.
using NodeTypeArguments = std::pair<std::uint64_t, std::optional<std::shared_ptr<MountedFeatures>>>;

TypedSample sample_types(const std::vector<RelationArguments>& relations,
                         const std::vector<NodeTypeArguments>& types,
                         const std::vector<std::pair<IdColumn, IdColumn>>& seeds,
                         const SampleOptions& options) {
  std::vector<Relation> all;
  for (const auto& [graph, source_type, destination_type, fanouts] : relations)
    all.push_back({graph.get(), source_type, destination_type, to_fanouts(fanouts)});
  std::vector<NodeType> all_types;
  for (const auto& [num_nodes, times] : types)
    all_types.push_back({num_nodes, times ? times->get() : nullptr});
  std::vector<TypeSeeds> of_types;
  for (const auto& [nodes, times] : seeds) of_types.push_back({to_span(nodes), to_span(times)});
  return sample_typed(all, all_types, of_types, options);
}

/// Gives each array away once: the core's sample is empty afterwards.
auto take_types(TypedSample& sample) {
  using Arrays = std::tuple<ResultArray<1>, ResultArray<1>, std::vector<std::int64_t>>;
  std::vector<Arrays> taken;
  for (TypeSample& type : sample.types)
    taken.emplace_back(to_array(std::move(type.nodes)), to_array(std::move(type.batch)),
                       std::move(type.num_sampled_nodes));
  return taken;
}

auto take_relations(TypedSample& sample) {
  using Arrays =
      std::tuple<ResultArray<2>, ResultArray<1>, ResultArray<1>, std::vector<std::int64_t>>;
  std::vector<Arrays> taken;
  for (RelationSample& relation : sample.relations) {
    const std::size_t num_edges = relation.edge_ids->size();
    taken.emplace_back(to_array<2>(std::move(relation.edge_index), {2, num_edges}),
                       to_array(std::move(relation.edge_ids)), to_array(std::move(relation.indptr)),
                       std::move(relation.num_sampled_edges));
  }
  return taken;
}

ResultArray<2> walk(const Graph& graph, const Copied<NodeId>& starts, std::uint64_t length,
                    const WalkOptions& options, std::uint64_t key) {
  const Walkers walkers{starts, length, RandomKey(key)};
  return to_array<2>(without_gil([&] { return random_walk(graph, walkers, options); }),
                     {starts.size(), length + 1});
}

std::tuple<ResultArray<1>, ResultArray<1>, ResultArray<2>> skip_gram_pairs(
    const Graph& graph, const Copied<NodeId>& starts, std::uint64_t length,
    const WalkOptions& options, std::uint64_t key, std::uint64_t window, std::uint64_t negatives,
    NegativeWeighting weighting) {
  ResultBuffer centers, contexts, drawn;
  std::uint64_t num_pairs = 0;
  {
    const GilRelease release;
    const Walkers walkers{starts, length, RandomKey(key)};
    const SkipGramWalks walks(graph, walkers, options, window);
    num_pairs = walks.num_pairs();
    centers = allocate_result(num_pairs, 1, "pairs");
    contexts = allocate_result(num_pairs, 1, "pairs");
    drawn = allocate_result(num_pairs, negatives, "pairs with their negatives");
    walks.write_pairs(centers->span(), contexts->span());
    walks.write_negatives(graph, negatives, weighting, drawn->span());
  }
  return {to_array<1>(std::move(centers), {num_pairs}),
          to_array<1>(std::move(contexts), {num_pairs}),
          to_array<2>(std::move(drawn), {num_pairs, negatives})};
}

auto visit_counts(const Graph& graph, const Copied<NodeId>& starts, std::uint64_t num_walks,
                  std::uint64_t length, const WalkOptions& options, std::uint64_t key,
                  std::optional<std::uint64_t> top) {
  const Walkers walkers{starts, length, RandomKey(key), num_walks};
  VisitCounts counts = without_gil([&] { return count_visits(graph, walkers, options, top); });
  return std::tuple(to_numpy(std::move(counts.indptr)), to_numpy(std::move(counts.nodes)),
                    to_numpy(std::move(counts.counts)));
}

// A matrix that fill(span of its items) writes, without the GIL.
template <class Fill>
ResultArray<2> make_matrix(std::size_t rows, std::size_t columns, const Fill& fill) {
  ResultBuffer made = without_gil([&] {
    ResultBuffer result = allocate_result(rows, columns, say("rows of ", columns, " negatives"));
    fill(result->span());
    return result;
  });
  return to_array<2>(std::move(made), {rows, columns});
}

ResultArray<2> sample_rows(const Graph& graph, const Column<std::int64_t>& kept, std::size_t num,
                           EdgeEnd corrupt, NegativeWeighting weighting, bool strict,
                           bool self_loops, std::optional<NodeId> pad, std::uint64_t key) {
  const NegativeOptions options{weighting, strict, self_loops, pad};
  return make_matrix(kept.size(), num, [&](std::span<NodeId> out) {
    sample_negatives(graph, to_span(kept), corrupt, options, RandomKey(key), out);
  });
}

ResultArray<2> sample_pairs(const Graph& graph, std::size_t num, NegativeWeighting weighting,
                            bool strict, bool self_loops, std::optional<NodeId> pad,
                            std::uint64_t key) {
  const NegativeOptions options{weighting, strict, self_loops, pad};
  return make_matrix(2, num, [&](std::span<NodeId> out) {
    sample_negative_pairs(graph, options, RandomKey(key), out.first(num), out.last(num));
  });
}

}  // namespace

void bind_sampling(nb::module_& module) {
  module.def("random_fanout", &fanout, "graph"_a, "nodes"_a, "k"_a, "replace"_a, "weighted"_a,
             "repeat"_a, "direction"_a, "key"_a);
  nb::class_<SampleOptions>(module, "SampleOptions")
      .def("__init__", &make_sample_options, nb::kw_only(), "fanouts"_a, "replace"_a, "weighted"_a,
           "disjoint"_a, "temporal"_a, "take_last"_a, "time_of"_a, "induced"_a, "direction"_a,
           "key"_a, "rank"_a, "world_size"_a);
  module.def("sample_neighbors", &sample, "graph"_a, "seeds"_a, "times"_a, "options"_a,
             nb::call_guard<GilRelease>());
  nb::class_<TypedSample>(module, "TypedSample")
      .def("take_types", &take_types)
      .def("take_relations", &take_relations);
  module.def("sample_typed", &sample_types, "relations"_a, "types"_a, "seeds"_a, "options"_a,
             nb::call_guard<GilRelease>());

  nb::class_<WalkOptions>(module, "WalkOptions")
      .def(nb::init<double, double, double, bool, DeadEnd, Direction>(), nb::kw_only(), "p"_a,
           "q"_a, "restart"_a, "weighted"_a, "dead_end"_a, "direction"_a);
  module.def("random_walk", &walk, "graph"_a, "starts"_a, "length"_a, "options"_a, "key"_a);
  module.def("skip_gram_pairs", &skip_gram_pairs, "graph"_a, "starts"_a, "length"_a, "options"_a,
             "key"_a, "window"_a, "negatives"_a, "negative_weighting"_a);
  module.def("visit_counts", &visit_counts, "graph"_a, "starts"_a, "num_walks"_a, "length"_a,
             "options"_a, "key"_a, "top"_a.none());

  module.def("sample_negatives", &sample_rows, "graph"_a, "kept"_a, "num"_a, "corrupt"_a,
             "weighting"_a, "strict"_a, "self_loops"_a, "pad"_a.none(), "key"_a);
  module.def("sample_negative_pairs", &sample_pairs, "graph"_a, "num"_a, "weighting"_a, "strict"_a,
             "self_loops"_a, "pad"_a.none(), "key"_a);
}

}  // namespace graphmount::bindings
