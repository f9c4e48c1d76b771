// Graphs between two node types: made from random edges and compared with the edges themselves,
// renumbered at both ends, and refused by what is for one type.
#include <algorithm>
#include <numeric>
#include <random>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/degree_summary.hpp"
#include "graphmount/graph/edge_search.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/graph/list_view.hpp"
#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"
#include "graphmount/sampling/neighbors/random_fanout.hpp"
#include "graphmount/verify/verify.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kSources = 23, kDestinations = 7;
const GraphOptions kOptions{
    .num_nodes = kDestinations, .rectangular = true, .num_sources = kSources};

Edges random_relation(int count) {
  std::mt19937_64 random(5);
  Edges edges;
  for (int i = 0; i < count; ++i)
    edges.add(static_cast<NodeId>(random() % kSources),
              static_cast<NodeId>(random() % kDestinations), static_cast<float>(i % 8), i % 5);
  return edges;
}

// The neighbors of a node, sorted.
std::vector<NodeId> neighbors_of(const Graph& graph, NodeId node, Direction direction) {
  return read_lists(graph, direction, [&](const auto& lists) {
    std::vector<NodeId> found;
    const ListRange range = lists.range(node);
    for (EdgeId at = range.begin; at < range.end; ++at) found.push_back(lists.neighbor(at));
    std::sort(found.begin(), found.end());
    return found;
  });
}

void check_lists(const Graph& graph, const std::vector<NodeId>& src,
                 const std::vector<NodeId>& dst) {
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    if (!graph.has_lists(direction)) continue;
    const auto& owners = direction == Direction::kIn ? dst : src;
    const auto& others = direction == Direction::kIn ? src : dst;
    for (std::uint64_t node = 0; node < graph.num_lists(direction); ++node) {
      std::vector<NodeId> expected;
      for (std::size_t i = 0; i < owners.size(); ++i)
        if (owners[i] == static_cast<NodeId>(node)) expected.push_back(others[i]);
      std::sort(expected.begin(), expected.end());
      CHECK(neighbors_of(graph, static_cast<NodeId>(node), direction) == expected);
    }
    std::vector<std::int64_t> degrees(graph.num_lists(direction));
    graph.all_degrees(direction, degrees);
    CHECK_EQUAL(std::accumulate(degrees.begin(), degrees.end(), std::int64_t{0}),
                static_cast<std::int64_t>(src.size()));
    CHECK_EQUAL(summarize_degrees(graph, direction).largest,
                *std::max_element(degrees.begin(), degrees.end()));
  }
}

}  // namespace

TEST(lists_of_both_ends) {
  const TemporaryFolder folder;
  const Edges edges = random_relation(200);
  for (const bool has_in : {true, false})
    for (const bool has_out : {true, false}) {
      if (!has_in && !has_out) continue;
      GraphOptions options = kOptions;
      options.in_lists = has_in;
      options.out_lists = has_out;
      const auto path = folder / "graph.gl";
      const GraphSummary done = write_graph(path, edges.columns(true, true), {}, options, {});
      CHECK_EQUAL(done.num_sources, kSources);
      CHECK_EQUAL(done.num_nodes, kDestinations);
      const Graph graph(path);
      CHECK(graph.is_rectangular());
      CHECK_EQUAL(graph.num_sources(), kSources);
      CHECK_EQUAL(graph.num_destinations(), kDestinations);
      CHECK_EQUAL(graph.num_lists(Direction::kOut), kSources);
      CHECK_EQUAL(graph.num_neighbors(Direction::kOut), kDestinations);
      check_lists(graph, edges.src, edges.dst);
      CHECK_EQUAL(verify_file(path, {}).num_problems, 0U);
    }
}

TEST(counts_are_found_for_each_end) {
  const TemporaryFolder folder;
  for (const bool has_in : {true, false}) {
    GraphCompiler compiler({.num_nodes = {}, .rectangular = true, .in_lists = has_in});
    const std::vector<NodeId> src = {9, 0}, dst = {1, 2};
    compiler.add({src, dst, std::nullopt, std::nullopt});
    CHECK_EQUAL(compiler.num_sources(), 10U);
    CHECK_EQUAL(compiler.num_destinations(), 3U);
    CHECK_EQUAL(compiler.num_appearing(), has_in ? 10U : 3U);
    compiler.finish(folder / "graph.gl", {}, {}, {});
    CHECK_EQUAL(Graph(folder / "graph.gl").num_sources(), 10U);
  }
}

TEST(both_ends_are_renumbered) {
  const TemporaryFolder folder;
  const Edges edges = random_relation(200);
  std::vector<NodeId> new_sources(kSources + 2), new_destinations(kDestinations);
  std::iota(new_sources.rbegin(), new_sources.rend(), 0);
  std::iota(new_destinations.begin(), new_destinations.end(), 0);
  std::rotate(new_destinations.begin(), new_destinations.begin() + 3, new_destinations.end());
  GraphOptions options = kOptions;
  options.num_sources = std::nullopt;
  GraphCompiler compiler(options);
  compiler.add(edges.columns());
  const GraphSummary done = compiler.finish_between(
      folder / "graph.gl", {.count = kSources + 2, .order = 11, .new_ids = new_sources},
      {.count = kDestinations, .order = 12, .new_ids = new_destinations}, {});
  CHECK_EQUAL(done.num_sources, kSources + 2);
  const Graph graph(folder / "graph.gl");
  CHECK_EQUAL(graph.source_order(), 11U);
  CHECK_EQUAL(graph.order(), 12U);
  std::vector<NodeId> src, dst;
  for (const NodeId node : edges.src) src.push_back(new_sources[static_cast<std::size_t>(node)]);
  for (const NodeId node : edges.dst)
    dst.push_back(new_destinations[static_cast<std::size_t>(node)]);
  check_lists(graph, src, dst);
}

TEST(ends_that_cannot_be) {
  const TemporaryFolder folder;
  const Edges edges = random_relation(50);
  const auto finish = [&](const FinalNodes& sources, const FinalNodes& destinations) {
    GraphCompiler compiler(kOptions);
    compiler.add(edges.columns());
    compiler.finish_between(folder / "graph.gl", sources, destinations, {});
  };
  CHECK_THROWS_WITH(finish({.count = kSources - 1}, {.count = kDestinations}),
                    std::invalid_argument, "edges name 23 sources");
  const std::vector<NodeId> twice(kDestinations, 0);
  CHECK_THROWS_WITH(finish({.count = kSources}, {.count = kDestinations, .new_ids = twice}),
                    std::invalid_argument, "given twice");
  GraphCompiler square({.num_nodes = kSources});
  CHECK_THROWS_WITH(square.finish_between(folder / "graph.gl", {.count = kSources, .order = 1},
                                          {.count = kSources, .order = 2}, {}),
                    std::invalid_argument, "are the same nodes");
  CHECK_THROWS_WITH(GraphCompiler({.num_nodes = {}, .rectangular = true, .undirected = true}),
                    std::invalid_argument, "have a direction");
  CHECK_THROWS_WITH(GraphCompiler({.num_nodes = {}, .num_sources = 3}), std::invalid_argument,
                    "of another node");
}

TEST(what_is_for_one_type_refuses) {
  const TemporaryFolder folder;
  write_graph(folder / "graph.gl", random_relation(100).columns(), {}, kOptions, {});
  const Graph graph(folder / "graph.gl");
  CHECK_THROWS_WITH(graph.num_nodes(), MissingDataError, "23 nodes of one type to 7 nodes");
  const std::vector<NodeId> seeds = {0, 1};
  SampleOptions options;
  options.fanouts = {2, 2};
  CHECK_THROWS_WITH(sample_neighbors(graph, seeds, {}, options), MissingDataError, "of one type");
  // One hop is the same for two types; ids are checked against the right one of them.
  const std::vector<NodeId> destination = {kDestinations - 1}, source = {kDestinations};
  CHECK_EQUAL(random_fanout(graph, destination, {.direction = Direction::kIn, .k = 2})->size(), 2U);
  CHECK_THROWS_WITH(random_fanout(graph, source, {.direction = Direction::kIn, .k = 2}), IdError,
                    "7");
  std::vector<std::uint8_t> found(1);
  find_edges(graph, source, destination, found);
  CHECK_THROWS_WITH(find_edges(graph, destination, source, found), IdError, "destination");
}
