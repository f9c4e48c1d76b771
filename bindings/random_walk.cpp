// Bindings of random walks, and of what is made of them.
#include "graphmount/sampling/walks/random_walk.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>

#include "arrays.hpp"
#include "directions.hpp"
#include "graphmount/sampling/walks/skip_gram.hpp"
#include "graphmount/sampling/walks/visit_counts.hpp"
#include "results.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using IdColumn = Column<std::int64_t>;

WalkOptions make_options(double p, double q, double restart, bool weighted,
                         const std::string& dead_end, const std::string& direction) {
  if (dead_end != "stay" && dead_end != "end")
    throw std::invalid_argument("dead_end is 'stay' or 'end', not '" + dead_end + "'");
  return {p,
          q,
          restart,
          weighted,
          dead_end == "end" ? DeadEnd::kEnd : DeadEnd::kStay,
          to_direction(direction)};
}

ResultArray<2> walk(const Graph& graph, const IdColumn& starts, std::uint64_t length,
                    const WalkOptions& options, std::uint64_t key) {
  const auto copied = to_vector(starts);
  const Walkers walkers{copied, length, RandomKey(key)};
  ResultBuffer out;
  {
    const GilRelease release;
    require_walkable(graph, walkers, options);
    out = allocate_walks(starts.size(), length);
    random_walk(graph, walkers, options, out->span());
  }
  return to_array<2>(std::move(out), {starts.size(), length + 1});
}

std::tuple<ResultArray<1>, ResultArray<1>, ResultArray<2>> skip_gram_pairs(
    const Graph& graph, const IdColumn& starts, std::uint64_t length, const WalkOptions& options,
    std::uint64_t key, std::uint64_t window, std::uint64_t negatives,
    const std::string& weighting) {
  if (weighting != "uniform" && weighting != "degree")
    throw std::invalid_argument("negatives are drawn 'uniform' or by 'degree', not '" + weighting +
                                "'");
  ResultBuffer centers, contexts, drawn;
  std::uint64_t num_pairs = 0;
  const auto copied = to_vector(starts);
  {
    const GilRelease release;
    const Walkers walkers{copied, length, RandomKey(key)};
    const SkipGramWalks walks(graph, walkers, options, window);
    num_pairs = walks.num_pairs();
    centers = allocate_result(num_pairs, 1, "pairs");
    contexts = allocate_result(num_pairs, 1, "pairs");
    drawn = allocate_result(num_pairs, negatives, "pairs with their negatives");
    walks.write_pairs(centers->span(), contexts->span());
    walks.write_negatives(
        graph, negatives,
        weighting == "degree" ? NegativeWeighting::kDegree : NegativeWeighting::kUniform,
        drawn->span());
  }
  return {to_array<1>(std::move(centers), {num_pairs}),
          to_array<1>(std::move(contexts), {num_pairs}),
          to_array<2>(std::move(drawn), {num_pairs, negatives})};
}

auto visit_counts(const Graph& graph, const IdColumn& starts, std::uint64_t num_walks,
                  std::uint64_t length, const WalkOptions& options, std::uint64_t key,
                  std::optional<std::uint64_t> top) {
  VisitCounts counts;
  const auto copied = to_vector(starts);
  {
    const GilRelease release;
    const Walkers walkers{copied, length, RandomKey(key), num_walks};
    counts = count_visits(graph, walkers, options, top);
  }
  return std::tuple(to_numpy(std::move(counts.indptr)), to_numpy(std::move(counts.nodes)),
                    to_numpy(std::move(counts.counts)));
}

}  // namespace

void bind_random_walk(nb::module_& module) {
  nb::class_<WalkOptions>(module, "WalkOptions")
      .def(nb::new_(&make_options), nb::kw_only(), "p"_a, "q"_a, "restart"_a, "weighted"_a,
           "dead_end"_a, "direction"_a);
  module.def("random_walk", &walk, "graph"_a, "starts"_a, "length"_a, "options"_a, "key"_a);
  module.def("skip_gram_pairs", &skip_gram_pairs, "graph"_a, "starts"_a, "length"_a, "options"_a,
             "key"_a, "window"_a, "negatives"_a, "negative_weighting"_a);
  module.def("visit_counts", &visit_counts, "graph"_a, "starts"_a, "num_walks"_a, "length"_a,
             "options"_a, "key"_a, "top"_a.none());
}

}  // namespace graphmount::bindings
