// Bindings of the sources of seeds: of nodes, and of links.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "graphmount/loading/link_seeds.hpp"
#include "weightings.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using IdColumn = Column<std::int64_t>;

NegativeMode to_mode(const std::string& name) {
  if (name == "none") return NegativeMode::kNone;
  if (name == "binary") return NegativeMode::kBinary;
  if (name == "triplet") return NegativeMode::kTriplet;
  throw std::invalid_argument("mode is 'none', 'binary' or 'triplet', not '" + name + "'");
}

void make_nodes(NodeSeeds* self, const IdColumn& nodes, const IdColumn& times,
                std::uint64_t batch_size) {
  new (self) NodeSeeds(to_vector(nodes), to_vector(times), batch_size);
}

void make_links(Links* self, const IdColumn& sources, const IdColumn& destinations,
                const IdColumn& times) {
  new (self) Links{to_vector(sources), to_vector(destinations), to_vector(times)};
}

/// What `make_links` was given.
auto links_arrays(const Links& links) {
  return std::tuple(to_numpy(std::vector(links.sources)), to_numpy(std::vector(links.destinations)),
                    to_numpy(std::vector(links.times)));
}

std::shared_ptr<const NodeWeights> to_weights(const Column<double>& weights) {
  return weights.size() == 0 ? nullptr : std::make_shared<const NodeWeights>(to_span(weights));
}

void make_negatives(LinkNegatives* self, const std::string& mode, double amount,
                    const std::string& weighting, bool strict, bool self_loops,
                    const Column<double>& source_weights,
                    const Column<double>& destination_weights) {
  new (self) LinkNegatives{to_mode(mode),
                           amount,
                           {to_weighting(weighting), strict, self_loops, {}},
                           to_weights(source_weights),
                           to_weights(destination_weights)};
}

void make_link_seeds(LinkSeeds* self, std::shared_ptr<const Graph> graph,
                     std::shared_ptr<const Links> links, const IdColumn& order,
                     std::uint64_t batch_size, bool disjoint, const LinkNegatives& negatives) {
  auto places = to_vector(order);
  const GilRelease release;
  new (self) LinkSeeds(std::move(graph), std::move(links), std::move(places), batch_size, disjoint,
                       negatives);
}

auto seeds_of(const SeedSource& source, std::uint64_t batch, std::uint64_t key) {
  BatchSeeds seeds;
  {
    const GilRelease release;
    seeds = source.seeds_of(batch, RandomKey(key));
  }
  return std::tuple(to_numpy(std::move(seeds.nodes)), to_numpy(std::move(seeds.times)),
                    to_numpy(std::move(seeds.ends)));
}

}  // namespace

void bind_seeds(nb::module_& module) {
  nb::class_<SeedSource>(module, "SeedSource")
      .def_prop_ro("num_batches", &SeedSource::num_batches)
      .def("seeds_of", &seeds_of, "batch"_a, "key"_a);
  nb::class_<NodeSeeds, SeedSource>(module, "NodeSeeds")
      .def("__init__", &make_nodes, nb::kw_only(), "nodes"_a, "times"_a, "batch_size"_a);
  nb::class_<Links>(module, "Links")
      .def("__init__", &make_links, nb::kw_only(), "sources"_a, "destinations"_a, "times"_a)
      .def("arrays", &links_arrays)
      .def("checksum", &Links::checksum, nb::call_guard<GilRelease>());
  nb::class_<LinkNegatives>(module, "LinkNegatives")
      .def("__init__", &make_negatives, nb::kw_only(), "mode"_a, "amount"_a, "weighting"_a,
           "strict"_a, "self_loops"_a, "source_weights"_a, "destination_weights"_a);
  nb::class_<LinkSeeds, SeedSource>(module, "LinkSeeds")
      .def("__init__", &make_link_seeds, nb::kw_only(), "graph"_a, "links"_a, "order"_a,
           "batch_size"_a, "disjoint"_a, "negatives"_a);
}

}  // namespace graphmount::bindings
