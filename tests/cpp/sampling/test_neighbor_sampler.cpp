// Sampling in the core: damaged files, and what Python cannot ask for. What samples look like is in
// tests/python/test_neighbor_sampling.py.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/list_reads.hpp"
#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"
#include "graphmount/sampling/neighbors/random_fanout.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 40;

class ExampleGraph {
 public:
  ExampleGraph() {
    const Edges edges = random_edges(3, kNodes, 600);
    write_graph(path(), edges.columns(true, true), {}, {.num_nodes = kNodes}, {});
    good_ = read_bytes(path());
  }

  std::filesystem::path path() const { return folder_ / "graph.gl"; }

  /// The graph with one item of a section changed.
  Graph open_damaged(SectionKind kind, std::uint64_t at, auto value,
                     Direction direction = Direction::kIn) const {
    write_bytes(path(), good_);
    Bytes bytes = good_;
    put(bytes, Graph(path()).find(kind, direction)->offset + at * sizeof value, value);
    write_bytes(path(), bytes);
    return Graph(path());
  }

 private:
  TemporaryFolder folder_;
  Bytes good_;
};

std::vector<NodeId> all_nodes() {
  std::vector<NodeId> nodes(kNodes);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

SampleOptions options_of(PickRule rule, std::vector<std::uint64_t> fanouts) {
  return {.fanouts = std::move(fanouts), .rule = rule, .disjoint = rule.temporal};
}

const PickRule kRules[] = {{},
                           {.replace = true},
                           {.weighted = true},
                           {.replace = true, .weighted = true},
                           {.temporal = true},
                           {.weighted = true, .temporal = true}};

/// Calls body(graph) for both ways of reading.
void both_ways(const Graph& graph, const auto& body) {
  for (const ReadAhead mode : {ReadAhead::kBatch, ReadAhead::kNone}) {
    graph.resident_pages().set_read_ahead(mode);
    body(graph);
  }
}

}  // namespace

TEST(damaged_offsets_are_met) {
  const ExampleGraph example;
  const std::vector<std::int64_t> times(kNodes, 1'000'000'000);
  for (const std::int64_t value :
       {std::int64_t{-1}, std::int64_t{601}, INT64_MAX, INT64_MIN, std::int64_t{1} << 40}) {
    const Graph graph = example.open_damaged(SectionKind::kIndptr, 5, value);
    both_ways(graph, [&](const Graph& damaged) {
      for (const PickRule& rule : kRules) {
        CHECK_THROWS_WITH(sample_neighbors(damaged, all_nodes(), times, options_of(rule, {3})),
                          FormatError, "damaged");
        if (!rule.temporal)
          CHECK_THROWS_WITH(random_fanout(damaged, all_nodes(), {.k = 3, .rule = rule}),
                            FormatError, "damaged");
      }
    });
  }
}

TEST(damaged_neighbors_are_met) {
  const ExampleGraph example;
  const std::vector<std::int64_t> times(kNodes, 1'000'000'000);
  for (const std::int32_t value : {-1, 40, INT32_MAX}) {
    const Graph graph = example.open_damaged(SectionKind::kIndices, 7, value);
    both_ways(graph, [&](const Graph& damaged) {
      CHECK_THROWS_WITH(sample_neighbors(damaged, all_nodes(), {}, options_of({}, {kAllNeighbors})),
                        FormatError, "position 7");
      CHECK_THROWS_WITH(random_fanout(damaged, all_nodes(), {.k = 100}), FormatError, "position 7");
    });
  }
}

TEST(damaged_edge_ids_are_met) {
  const ExampleGraph example;
  for (const std::int32_t value : {-1, 600, INT32_MAX}) {
    const Graph graph = example.open_damaged(SectionKind::kEdgeIds, 7, value, Direction::kOut);
    both_ways(graph, [&](const Graph& damaged) {
      SampleOptions options = options_of({}, {kAllNeighbors});
      options.direction = Direction::kOut;
      CHECK_THROWS_WITH(sample_neighbors(damaged, all_nodes(), {}, options), FormatError,
                        "edge id at position 7");
      options.induced = true;
      CHECK_THROWS_WITH(sample_neighbors(damaged, all_nodes(), {}, options), FormatError,
                        "edge id at position 7");
    });
  }
}

TEST(rows_of_the_source_in_place_of_edge_ids) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(3, kNodes, 600);
  write_graph(folder / "rows.gl", edges.columns(true, true), {},
              {.num_nodes = kNodes, .keep_source_rows = true}, {});
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    for (const bool induced : {false, true}) {
      both_ways(Graph(folder / "rows.gl"), [&](const Graph& graph) {
        SampleOptions options = options_of({}, {5, kAllNeighbors});
        options.direction = direction;
        options.induced = induced;
        const NeighborSample sample = sample_neighbors(graph, all_nodes(), {}, options);
        options.source_rows = true;
        const NeighborSample same = sample_neighbors(graph, all_nodes(), {}, options);
        std::vector<std::int64_t> expected(sample.edge_ids->size());
        gather_source_rows(graph, sample.edge_ids->span(), expected);
        CHECK(std::ranges::equal(same.edge_ids->span(), expected));
        CHECK(std::ranges::equal(same.nodes->span(), sample.nodes->span()));
        CHECK(!expected.empty() && !std::ranges::equal(expected, sample.edge_ids->span()));
      });
    }
  }
  const ExampleGraph plain;
  SampleOptions options = options_of({}, {5});
  options.source_rows = true;
  CHECK_THROWS_WITH(sample_neighbors(Graph(plain.path()), all_nodes(), {}, options),
                    MissingDataError, "no source rows");
}

TEST(damaged_rows_of_the_source_are_met) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "rows.gl";
  write_graph(path, random_edges(3, kNodes, 600).columns(true, true), {},
              {.num_nodes = kNodes, .keep_source_rows = true}, {});
  Bytes bytes = read_bytes(path);
  put(bytes, Graph(path).find(SectionKind::kSourceRows, Direction::kIn)->offset + 7 * 4,
      std::int32_t{-5});
  write_bytes(path, bytes);
  both_ways(Graph(path), [&](const Graph& damaged) {
    for (const Direction direction : {Direction::kIn, Direction::kOut}) {
      SampleOptions options = options_of({}, {kAllNeighbors});
      options.direction = direction;
      options.source_rows = true;
      CHECK_THROWS_WITH(sample_neighbors(damaged, all_nodes(), {}, options), FormatError,
                        "source row -5");
    }
  });
}

TEST(damaged_weights_and_alias_tables_do_no_harm) {
  const ExampleGraph example;
  const auto sample_all = [](const Graph& graph) {
    both_ways(graph, [](const Graph& damaged) {
      for (const PickRule rule :
           {PickRule{.weighted = true}, {.replace = true, .weighted = true}}) {
        for (const std::uint64_t k : {1, 2, 3, 10, 1000}) {
          try {
            const auto sample =
                sample_neighbors(damaged, all_nodes(), {}, options_of(rule, {k, k}));
            for (const std::int64_t node : sample.nodes->span())
              CHECK(node >= 0 && node < static_cast<NodeId>(kNodes));
          } catch (const FormatError&) {
            // which is as good
          }
        }
      }
    });
  };
  for (std::uint64_t at = 0; at < 40; at += 3) {
    sample_all(example.open_damaged(SectionKind::kAlias, at, std::uint64_t{0x0000'0000'7FFF'FFFF}));
    sample_all(example.open_damaged(SectionKind::kAlias, at, std::uint64_t{0}));
    for (const float value : {-1.0F, NAN, INFINITY, 1e38F})
      sample_all(example.open_damaged(SectionKind::kWeights, at, value));
  }
}

TEST(options_that_do_not_go_together) {
  const ExampleGraph example;
  const Graph graph(example.path());
  const std::vector<NodeId> seeds = {1, 2};
  SampleOptions options = options_of({.temporal = true}, {1});
  const std::vector<std::int64_t> times = {1, 2};
  CHECK_THROWS_WITH(sample_neighbors(graph, seeds, {times.data(), 1}, options),
                    std::invalid_argument, "1 times for 2 seeds");
  options.disjoint = false;
  CHECK_THROWS_WITH(sample_neighbors(graph, seeds, times, options), std::invalid_argument,
                    "disjoint");
  options = options_of({.replace = true, .temporal = true, .take_last = true}, {1});
  CHECK_THROWS_WITH(sample_neighbors(graph, seeds, times, options), std::invalid_argument, "last");
}
