// Bindings of neighbor sampling.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "directions.hpp"
#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"
#include "graphmount/sampling/neighbors/random_fanout.hpp"
#include "results.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using IdColumn = Column<std::int64_t>;

ResultArray<2> fanout(const Graph& graph, const IdColumn& nodes, std::uint64_t k, bool replace,
                      bool weighted, bool repeat, const std::string& direction, std::uint64_t key) {
  const FanoutOptions options{.direction = to_direction(direction),
                              .k = k,
                              .rule = {.replace = replace, .weighted = weighted},
                              .repeat = repeat,
                              .key = RandomKey(key)};
  ResultBuffer out;
  {
    const GilRelease release;
    out = random_fanout(graph, to_span(nodes), options);
  }
  return to_array<2>(std::move(out), {nodes.size(), static_cast<std::size_t>(k)});
}

void make_options(SampleOptions* self, const std::vector<std::int64_t>& fanouts, bool replace,
                  bool weighted, bool disjoint, bool temporal, bool take_last, bool induced,
                  const std::string& direction, std::uint64_t key) {
  new (self) SampleOptions{.direction = to_direction(direction),
                           .fanouts = {},
                           .rule = {.replace = replace,
                                    .weighted = weighted,
                                    .temporal = temporal,
                                    .take_last = take_last},
                           .disjoint = disjoint,
                           .edges = induced ? SampledEdges::kInduced : SampledEdges::kPicked,
                           .key = RandomKey(key)};
  for (const std::int64_t fanout : fanouts)
    self->fanouts.push_back(fanout < 0 ? kAllNeighbors : static_cast<std::uint64_t>(fanout));
}

NeighborSample sample(const Graph& graph, const IdColumn& seeds, const IdColumn& times,
                      const SampleOptions& options) {
  const GilRelease release;
  return sample_neighbors(graph, to_span(seeds), to_span(times), options);
}

/// Gives each array away once: the core's sample is empty afterwards.
auto take_arrays(NeighborSample& sample) {
  return std::tuple(to_array(std::move(sample.nodes)), to_array(std::move(sample.neighbors)),
                    to_array(std::move(sample.targets)), to_array(std::move(sample.edge_ids)),
                    to_array(std::move(sample.batch)));
}

}  // namespace

void bind_sampling(nb::module_& module) {
  nb::class_<NeighborSample>(module, "NeighborSample")
      .def("take_arrays", &take_arrays)
      .def_ro("num_sampled_nodes", &NeighborSample::num_sampled_nodes)
      .def_ro("num_sampled_edges", &NeighborSample::num_sampled_edges);
  module.def("random_fanout", &fanout, "graph"_a, "nodes"_a, "k"_a, "replace"_a, "weighted"_a,
             "repeat"_a, "direction"_a, "key"_a);
  nb::class_<SampleOptions>(module, "SampleOptions")
      .def("__init__", &make_options, nb::kw_only(), "fanouts"_a, "replace"_a, "weighted"_a,
           "disjoint"_a, "temporal"_a, "take_last"_a, "induced"_a, "direction"_a, "key"_a);
  module.def("sample_neighbors", &sample, "graph"_a, "seeds"_a, "times"_a, "options"_a);
}

}  // namespace graphmount::bindings
