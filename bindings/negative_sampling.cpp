// Bindings of negative sampling. Options cross as the words that users write.
#include "graphmount/sampling/negatives/negative_sampling.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "results.hpp"
#include "weightings.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

EdgeEnd to_edge_end(const std::string& name) {
  if (name == "source") return EdgeEnd::kSource;
  if (name == "destination") return EdgeEnd::kDestination;
  throw std::invalid_argument("an edge has a 'source' and a 'destination', no '" + name + "'");
}

// A matrix that fill(span of its items) writes, without the GIL.
template <class Fill>
ResultArray<2> make_matrix(std::size_t rows, std::size_t columns, const Fill& fill) {
  ResultBuffer result;
  {
    const GilRelease release;
    result = allocate_result(rows, columns, "rows of " + std::to_string(columns) + " negatives");
    fill(result->span());
  }
  return to_array<2>(std::move(result), {rows, columns});
}

ResultArray<2> sample_rows(const Graph& graph, const Column<std::int64_t>& kept, std::size_t num,
                           const std::string& corrupt, const std::string& weighting, bool strict,
                           bool self_loops, std::optional<NodeId> pad, std::uint64_t key) {
  const EdgeEnd end = to_edge_end(corrupt);
  const NegativeOptions options{to_weighting(weighting), strict, self_loops, pad};
  return make_matrix(kept.size(), num, [&](std::span<NodeId> out) {
    sample_negatives(graph, to_span(kept), end, options, RandomKey(key), out);
  });
}

ResultArray<2> sample_pairs(const Graph& graph, std::size_t num, const std::string& weighting,
                            bool strict, bool self_loops, std::optional<NodeId> pad,
                            std::uint64_t key) {
  const NegativeOptions options{to_weighting(weighting), strict, self_loops, pad};
  return make_matrix(2, num, [&](std::span<NodeId> out) {
    sample_negative_pairs(graph, options, RandomKey(key), out.first(num), out.last(num));
  });
}

}  // namespace

void bind_negative_sampling(nb::module_& module) {
  module.def("sample_negatives", &sample_rows, "graph"_a, "kept"_a, "num"_a, "corrupt"_a,
             "weighting"_a, "strict"_a, "self_loops"_a, "pad"_a.none(), "key"_a);
  module.def("sample_negative_pairs", &sample_pairs, "graph"_a, "num"_a, "weighting"_a, "strict"_a,
             "self_loops"_a, "pad"_a.none(), "key"_a);
}

}  // namespace graphmount::bindings
