// Edge search against a set of edges, and what it does with damaged lists.
#include <set>
#include <utility>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/edge_search.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "mixed_dtypes.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

struct Pairs {
  std::vector<NodeId> sources, destinations;
};

Pairs all_pairs(NodeId num_nodes) {
  Pairs pairs;
  for (NodeId source = 0; source < num_nodes; ++source)
    for (NodeId destination = 0; destination < num_nodes; ++destination) {
      pairs.sources.push_back(source);
      pairs.destinations.push_back(destination);
    }
  return pairs;
}

std::vector<std::uint8_t> find(const Graph& graph, const Pairs& pairs) {
  std::vector<std::uint8_t> out(pairs.sources.size(), 7);
  find_edges(graph, pairs.sources, pairs.destinations, out);
  return out;
}

// Of all pairs: is it among the edges?
std::vector<std::uint8_t> expected(const Edges& edges, NodeId num_nodes, bool is_directed) {
  std::set<std::pair<NodeId, NodeId>> known;
  for (std::size_t i = 0; i < edges.src.size(); ++i) {
    known.emplace(edges.src[i], edges.dst[i]);
    if (!is_directed) known.emplace(edges.dst[i], edges.src[i]);
  }
  std::vector<std::uint8_t> found;
  for (NodeId source = 0; source < num_nodes; ++source)
    for (NodeId destination = 0; destination < num_nodes; ++destination)
      found.push_back(known.contains({source, destination}) ? 1 : 0);
  return found;
}

}  // namespace

TEST(finds_what_is_there_in_every_kind_of_file) {
  const TemporaryFolder folder;
  constexpr NodeId kNodes = 60;
  for (const int count : {0, 1, 40, 1500}) {
    const Edges edges = random_edges(static_cast<std::uint64_t>(count), kNodes, count);
    for (const bool is_temporal : {false, true})
      for (const bool is_wide : {false, true})
        for (const int directions : {0, 1, 2, 3}) {
          GraphOptions options{.num_nodes = kNodes, .wide_indices = is_wide};
          options.undirected = directions == 0;
          options.in_lists = directions != 2;
          options.out_lists = directions != 1;
          write_graph(folder / "g.gl", edges.columns(false, is_temporal), {}, options, {});
          const Graph graph(folder / "g.gl");
          CHECK(find(graph, all_pairs(kNodes)) == expected(edges, kNodes, !options.undirected));
        }
  }
}

TEST(directions_may_be_of_different_dtypes) {
  const TemporaryFolder folder;
  constexpr NodeId kNodes = 30;
  const Edges edges = random_edges(6, kNodes, 200);
  write_graph(folder / "g.gl", edges.columns(), {}, {.num_nodes = kNodes, .wide_indices = true},
              {});
  narrow_outgoing(folder / "g.gl");
  CHECK(find(Graph(folder / "g.gl"), all_pairs(kNodes)) == expected(edges, kNodes, true));
}

TEST(searches_long_lists) {
  const TemporaryFolder folder;
  constexpr NodeId kNodes = 3000;
  Edges edges;
  for (NodeId node = 0; node < kNodes; node += 3)
    for (const NodeId repetition : {0, 1})
      if (repetition == 0 || node % 2 == 0) edges.add(5, node);
  Pairs pairs;
  for (NodeId node = 0; node < kNodes; ++node) {
    pairs.sources.push_back(5);
    pairs.destinations.push_back(node);
  }
  for (const bool is_temporal : {false, true}) {
    write_graph(folder / "g.gl", edges.columns(false, is_temporal), {},
                {.num_nodes = kNodes, .in_lists = false}, {});
    const auto found = find(Graph(folder / "g.gl"), pairs);
    for (std::size_t node = 0; node < found.size(); ++node)
      CHECK_EQUAL(int{found[node]}, node % 3 == 0 ? 1 : 0);
  }
}

TEST(does_not_depend_on_threads) {
  const TemporaryFolder folder;
  constexpr NodeId kNodes = 90;
  write_graph(folder / "g.gl", random_edges(5, kNodes, 2000).columns(), {}, {.num_nodes = kNodes},
              {});
  const Graph graph(folder / "g.gl");
  const int before = num_threads();
  set_num_threads(1);
  const auto alone = find(graph, all_pairs(kNodes));
  for (const int count : {2, 7}) {
    set_num_threads(count);
    CHECK(find(graph, all_pairs(kNodes)) == alone);
  }
  set_num_threads(before);
}

TEST(refuses_bad_pairs) {
  const TemporaryFolder folder;
  write_graph(folder / "g.gl", random_edges(5, 4, 9).columns(), {}, {.num_nodes = 4}, {});
  const Graph graph(folder / "g.gl");
  CHECK_THROWS_WITH(find(graph, {{0, 4}, {0, 0}}), IdError, "source 4 (at position 1)");
  CHECK_THROWS_WITH(find(graph, {{0, 1}, {-1, 0}}), IdError, "destination -1 (at position 0)");
  CHECK_THROWS_WITH(find(graph, {{0, 1}, {0}}), std::invalid_argument,
                    "2 sources and 1 destinations");
  CHECK(find(graph, {}).empty());
}

TEST(meets_damage) {
  const TemporaryFolder folder;
  const auto path = folder / "g.gl";
  constexpr NodeId kNodes = 10;
  for (const bool is_temporal : {false, true}) {
    write_graph(path, random_edges(2, kNodes, 50).columns(false, is_temporal), {},
                {.num_nodes = kNodes, .in_lists = false}, {});
    const Bytes good = read_bytes(path);
    const Header header = Graph(path).mount().header();
    const auto at = [&](SectionKind kind) { return header.find(kind, Direction::kOut)->offset; };
    const auto try_all = [&](const Bytes& bytes) {
      write_bytes(path, bytes);
      find(Graph(path), all_pairs(kNodes));
    };
    for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{51}, INT64_MAX, INT64_MIN}) {
      Bytes bytes = good;
      put(bytes, at(SectionKind::kIndptr) + 8 * 5, value);
      CHECK_THROWS_WITH(try_all(bytes), FormatError, "damaged");
    }
    for (const std::int32_t value : {-1, 10, INT32_MAX, INT32_MIN}) {
      Bytes bytes = good;
      put(bytes, at(SectionKind::kIndices) + 4 * 7, value);
      CHECK_THROWS_WITH(try_all(bytes), FormatError, "position 7 of the lists (out)");
    }
    write_bytes(path, good);
    const Graph graph(path);
    std::filesystem::resize_file(path, 4096);
    CHECK_THROWS(find(graph, all_pairs(kNodes)), FileChangedError);
  }
}
