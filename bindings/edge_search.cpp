// Bindings of edge search.
#include "graphmount/graph/edge_search.hpp"

#include "arrays.hpp"

namespace graphmount::bindings {
namespace {

auto find_edges_of(const Graph& graph, const Column<std::int64_t>& sources,
                   const Column<std::int64_t>& destinations) {
  std::vector<std::uint8_t> out(sources.size());
  {
    const GilRelease release;
    find_edges(graph, to_span(sources), to_span(destinations), out);
  }
  return to_numpy(std::move(out));
}

}  // namespace

void bind_edge_search(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("find_edges", &find_edges_of, "graph"_a, "sources"_a, "destinations"_a);
}

}  // namespace graphmount::bindings
