// Random walks: edge cases, damaged files, and results that do not depend on threads. That the
// probabilities are right is tested from Python, against exact ones.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/neighbor_search.hpp"
#include "graphmount/sampling/walks/random_walk.hpp"
#include "graphmount/sampling/walks/skip_gram.hpp"
#include "graphmount/sampling/walks/visit_counts.hpp"
#include "graphmount/sampling/walks/visit_table.hpp"
#include "graphmount/system/memory/result_memory.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 40;

class ExampleGraph {
 public:
  explicit ExampleGraph(bool with_times = false, bool wide = false) {
    const Edges edges = random_edges(3, kNodes, 300);
    write_graph(path(), edges.columns(true, with_times), {},
                {.num_nodes = kNodes, .wide_indices = wide}, {});
    good_ = read_bytes(path());
  }

  std::filesystem::path path() const { return folder_ / "graph.gl"; }

  /// The position of the largest weight.
  std::uint64_t heaviest() const {
    const Graph graph(path());
    const auto* weights =
        graph.mount().data<float>(*graph.find(SectionKind::kWeights, Direction::kOut));
    return static_cast<std::uint64_t>(std::max_element(weights, weights + graph.num_edges()) -
                                      weights);
  }

  Graph open_damaged(SectionKind kind, std::uint64_t at, auto value) const {
    write_bytes(path(), good_);
    const std::uint64_t offset = Graph(path()).mount().header().find(kind, Direction::kOut)->offset;
    Bytes bytes = good_;
    put(bytes, offset + at, value);
    write_bytes(path(), bytes);
    return Graph(path());
  }

 private:
  TemporaryFolder folder_;
  Bytes good_;
};

Graph path_of_three(const std::filesystem::path& path) {
  const std::vector<NodeId> src = {0, 1}, dst = {1, 2};
  write_graph(path, {src, dst, std::nullopt, std::nullopt}, {}, {.num_nodes = 4}, {});
  return Graph(path);
}

std::vector<NodeId> all_nodes(std::size_t times) {
  std::vector<NodeId> nodes(kNodes * times);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeId>(i % kNodes);
  return nodes;
}

std::vector<NodeId> walk(const Graph& graph, std::span<const NodeId> starts, std::uint64_t length,
                         const WalkOptions& options) {
  {
    // What was left in the memory of results is no node of a walk.
    ResultBuffer before = allocate_result(starts.size(), length + 1, "walks");
    std::fill(before->data(), before->data() + before->size(), -7);
  }
  const ResultBuffer out = random_walk(graph, {starts, length, RandomKey(5)}, options);
  return {out->data(), out->data() + out->size()};
}

std::vector<WalkOptions> many_options() {
  return {{},
          {.restart = 0.2},
          {.weighted = true},
          {.weighted = true, .dead_end = DeadEnd::kEnd},
          {.p = 0.25, .q = 4.0},
          {.p = 1e-9, .q = 1e9, .restart = 0.1, .weighted = true},
          {.q = 0.5, .direction = Direction::kIn}};
}

}  // namespace

TEST(walks_to_dead_ends) {
  const TemporaryFolder folder;
  const Graph graph = path_of_three(folder / "g.gl");
  const std::vector<NodeId> starts = {0, 3};
  for (const double q : {1.0, 3.0}) {
    CHECK(walk(graph, starts, 3, {.q = q}) == std::vector<NodeId>({0, 1, 2, 2, 3, 3, 3, 3}));
    CHECK(walk(graph, starts, 3, {.q = q, .dead_end = DeadEnd::kEnd}) ==
          std::vector<NodeId>({0, 1, 2, -1, 3, -1, -1, -1}));
    CHECK(walk(graph, starts, 0, {.q = q}) == starts);
    CHECK(walk(graph, {}, 3, {.q = q}).empty());
    CHECK(walk(graph, starts, 1, {.q = q, .restart = 1.0}) == std::vector<NodeId>({0, 0, 3, 3}));
  }
}

TEST(threads_and_other_walkers_do_not_matter) {
  const int before = num_threads();
  for (const bool with_times : {false, true}) {
    const ExampleGraph example(with_times);
    const Graph graph(example.path());
    const auto starts = all_nodes(50);
    for (const WalkOptions& options : many_options()) {
      set_num_threads(1);
      const auto walks = walk(graph, starts, 12, options);
      for (const int count : {2, 7}) {
        set_num_threads(count);
        CHECK(walk(graph, starts, 12, options) == walks);
      }
      for (const std::size_t some : {1U, 63U, 64U, 65U, 1000U}) {
        const auto fewer = walk(graph, std::span(starts).first(some), 12, options);
        CHECK(std::equal(fewer.begin(), fewer.end(), walks.begin()));
      }
    }
  }
  set_num_threads(before);
}

TEST(refuses_what_cannot_be_walked) {
  const TemporaryFolder folder;
  const Graph graph = path_of_three(folder / "g.gl");
  const std::vector<NodeId> zero = {0};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity(), 1e-310}) {
    CHECK_THROWS_WITH(walk(graph, zero, 1, {.p = bad}), std::invalid_argument, "p must be");
    CHECK_THROWS_WITH(walk(graph, zero, 1, {.q = bad}), std::invalid_argument, "q must be");
  }
  for (const double bad : {-0.1, 1.1, nan})
    CHECK_THROWS_WITH(walk(graph, zero, 1, {.restart = bad}), std::invalid_argument, "restart is");
  CHECK_THROWS_WITH(walk(graph, zero, 1, {.weighted = true}), MissingDataError, "no weights");
  for (const NodeId bad : {NodeId{-1}, NodeId{4}, NodeId{INT64_MAX}}) {
    const std::vector<NodeId> starts = {0, bad};
    CHECK_THROWS_WITH(walk(graph, starts, 1, {}), IdError, "at position 1");
  }
  CHECK_THROWS_WITH(random_walk(graph, {zero, UINT64_MAX, RandomKey(0)}, {}), std::invalid_argument,
                    "length must be at most");
  CHECK_THROWS_WITH(count_visits(graph, {zero, 1, RandomKey(0), 0}, {}, {}), std::invalid_argument,
                    "num_walks");
  const std::vector<NodeId> two = {0, 1};
  CHECK_THROWS_WITH(count_visits(graph, {two, 1, RandomKey(0), UINT64_MAX}, {}, {}),
                    std::invalid_argument, "more walks than 64 bits");
  CHECK_THROWS_WITH(SkipGramWalks(graph, {zero, 1, RandomKey(0)}, {}, 0), std::invalid_argument,
                    "window");
}

TEST(says_how_much_memory_there_is_not) {
  CHECK_THROWS_WITH(allocate_result(UINT64_MAX, 3, "pairs"), BudgetError, "more than 2^63 bytes");
  CHECK_THROWS_WITH(allocate_result(std::uint64_t{1} << 57, 1, "pairs"), BudgetError,
                    "144115188075855872 pairs take 1152921504606846976 bytes");
  CHECK(allocate_result(0, 5, "pairs")->empty());
}

TEST(meets_damaged_files) {
  for (const bool wide : {false, true}) {
    const ExampleGraph example(false, wide);
    const auto starts = all_nodes(200);
    const std::uint64_t heavy = example.heaviest();  // never a weight of 0, which is never picked
    const auto refuse = [&](const Graph& graph, const WalkOptions& options) {
      CHECK_THROWS_WITH(walk(graph, starts, 3, options), FormatError, "damaged");
      CHECK_THROWS(SkipGramWalks(graph, {starts, 3, RandomKey(5)}, options, 2), FormatError);
      CHECK_THROWS(count_visits(graph, {starts, 3, RandomKey(5), 2}, options, {}), FormatError);
    };
    for (WalkOptions options : many_options()) {
      options.direction = Direction::kOut;
      for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{301}, INT64_MAX, INT64_MIN})
        refuse(example.open_damaged(SectionKind::kIndptr, 8 * 7, value), options);
      for (const int value : {-1, 40, INT32_MAX, INT32_MIN})
        refuse(wide ? example.open_damaged(SectionKind::kIndices, 8 * heavy, std::int64_t{value})
                    : example.open_damaged(SectionKind::kIndices, 4 * heavy, value),
               options);
      if (!options.weighted) continue;
      refuse(example.open_damaged(SectionKind::kAlias, 8 * 9, std::uint64_t{0xFFFF'FFFE}), options);
      refuse(example.open_damaged(SectionKind::kAlias, 8 * 9, std::uint64_t{300}), options);
    }
  }
}

TEST(searches_as_a_plain_loop_does) {
  const auto search = [](const auto& list, ListRange range, NodeId node, std::uint64_t nodes) {
    using Index = std::remove_cvref_t<decltype(list[0])>;
    NeighborSearch<Index> search;
    search.start(list.data(), range, node, nodes);
    Found found = Found::kUnknown;
    for (int looks = 0; found == Found::kUnknown; ++looks) {
      CHECK(looks < 24);
      found = search.look(list.data());
    }
    return found == Found::kPresent;
  };
  const auto compare = [&](auto example, std::uint64_t num_nodes, auto spread) {
    using Index = decltype(example);
    Draws draws{RandomKey(9)};
    for (const std::size_t length : {0U, 1U, 2U, 15U, 16U, 17U, 100U, 5000U}) {
      for (const std::size_t first : {0U, 3U, 16U}) {
        std::vector<Index> list(first + length + 5, Index{7});
        for (std::size_t i = 0; i < length; ++i)
          list[first + i] =
              static_cast<Index>(spread(draws.unit()) * static_cast<double>(num_nodes));
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, begin + static_cast<std::ptrdiff_t>(length));
        const std::set<Index> members(begin, begin + static_cast<std::ptrdiff_t>(length));
        const ListRange range{static_cast<EdgeId>(first), static_cast<EdgeId>(first + length)};
        for (int trial = 0; trial < 500; ++trial) {
          auto node = static_cast<Index>(draws.below(num_nodes));
          if (length > 0 && trial % 2 == 0)
            node = begin[static_cast<std::ptrdiff_t>(draws.below(length))];
          CHECK_EQUAL(search(list, range, node, num_nodes), members.contains(node));
        }
      }
    }
  };
  for (const std::uint64_t num_nodes : {20U, 4000U, 2'000'000'000U}) {
    compare(std::int32_t{}, num_nodes, [](double unit) { return unit; });
    compare(std::int64_t{}, num_nodes, [](double unit) { return unit * unit * unit * unit; });
    compare(std::int32_t{}, num_nodes, [](double unit) { return unit < 0.5 ? 0.0 : 0.999; });
  }
  // Whatever a damaged list holds, the search ends.
  std::vector<std::int64_t> list(5000);
  Draws draws{RandomKey(10)};
  for (auto& id : list) id = static_cast<std::int64_t>(draws.bits());
  for (int trial = 0; trial < 2000; ++trial)
    search(list, {0, 5000}, static_cast<NodeId>(draws.below(1000)), 1000);
}

TEST(pairs_and_visits_are_those_of_the_walks) {
  const ExampleGraph example;
  const Graph graph(example.path());
  const auto starts = all_nodes(3);
  for (const WalkOptions& options : many_options()) {
    const auto walks = walk(graph, starts, 9, options);
    std::vector<NodeId> repeated;
    for (const NodeId start : starts) repeated.insert(repeated.end(), 4, start);
    const auto counts = count_visits(graph, {starts, 9, RandomKey(5), 4}, options, {});
    const auto visited = walk(graph, repeated, 9, options);
    CHECK_EQUAL(std::accumulate(counts.counts.begin(), counts.counts.end(), std::int64_t{0}),
                std::ssize(visited) - std::count(visited.begin(), visited.end(), kEnded));
    const SkipGramWalks pairs(graph, {starts, 9, RandomKey(5)}, options, 2);
    std::vector<NodeId> centers(pairs.num_pairs()), contexts(pairs.num_pairs());
    pairs.write_pairs(centers, contexts);
    std::vector<NodeId> negatives(3 * pairs.num_pairs(), -7);
    for (const auto weighting : {NegativeWeighting::kUniform, NegativeWeighting::kDegree}) {
      pairs.write_negatives(graph, 3, weighting, negatives);
      for (const NodeId node : negatives) CHECK(node >= 0 && node < static_cast<NodeId>(kNodes));
    }
    if (options.restart > 0.0) continue;
    std::size_t pair = 0;
    for (std::size_t row = 0; row < starts.size(); ++row) {
      for (std::int64_t i = 0; i < 10; ++i) {
        for (std::int64_t j = std::max<std::int64_t>(0, i - 2);
             j <= std::min<std::int64_t>(9, i + 2); ++j) {
          const NodeId center = walks[row * 10 + static_cast<std::size_t>(i)];
          const NodeId context = walks[row * 10 + static_cast<std::size_t>(j)];
          if (i == j || center == kEnded || context == kEnded) continue;
          CHECK_EQUAL(centers[pair], center);
          CHECK_EQUAL(contexts[pair++], context);
        }
      }
    }
    CHECK_EQUAL(pair, centers.size());
  }
}

TEST(tables_count) {
  VisitTable table;
  for (int round = 0; round < 3; ++round) {
    for (NodeId node = 0; node < 1000; ++node)
      for (NodeId times = 0; times <= node % 3; ++times) table.add(node * 1'000'003, 2);
    CHECK_EQUAL(table.visits().size(), 1000U);
    for (const Visit& visit : table.visits())
      CHECK_EQUAL(visit.count, 2 * (visit.node / 1'000'003 % 3 + 1));
    table.clear();
    CHECK(table.visits().empty());
  }
}
