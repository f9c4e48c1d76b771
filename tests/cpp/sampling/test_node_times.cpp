// Sampling by the times of nodes in the core: ways of reading, damaged and vanished files, and
// tables that are not times. What samples look like is in tests/python/sampling/test_node_times.py.
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/sampling/neighbors/typed_sampler.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 40;

/// Edges of one type. The list of node 0 is long, and those of the others are not.
class ExampleGraph {
 public:
  ExampleGraph() {
    Edges edges = random_edges(3, kNodes, 600);
    for (int i = 0; i < 3000; ++i) edges.add(i % static_cast<int>(kNodes), 0, 0.5F);
    write_graph(graph_path(), edges.columns(true, false), {}, {.num_nodes = kNodes}, {});
    std::vector<std::int64_t> times(kNodes);
    std::iota(times.begin(), times.end(), std::int64_t{0});
    write_times(kNodes, times);
  }

  std::filesystem::path graph_path() const { return folder_ / "graph.gl"; }
  std::filesystem::path times_path() const { return folder_ / "times.gd"; }

  template <class Item>
  void write_times(std::uint64_t rows, const std::vector<Item>& items,
                   DType dtype = DType::kInt64) const {
    FeatureWriter writer(times_path(),
                         {.dtype = dtype, .rows = rows, .columns = items.size() / rows});
    writer.append(std::as_bytes(std::span(items)));
    writer.finish();
  }

 private:
  TemporaryFolder folder_;
};

/// From every node three times, at different times; node 0 has a long list for each of its trees.
TypedSample sample_of(const Graph& graph, const FeatureMatrix& times, PickRule rule,
                      std::vector<std::uint64_t> fanouts) {
  std::vector<NodeId> seeds(3 * kNodes);
  std::vector<std::int64_t> seed_times(3 * kNodes);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    seeds[i] = static_cast<NodeId>(i % kNodes);
    seed_times[i] = static_cast<std::int64_t>(i * 7 % kNodes);
  }
  rule.temporal = true;
  const SampleOptions options{.fanouts = std::move(fanouts),
                              .rule = rule,
                              .time_of = TimeOf::kNodes,
                              .disjoint = true,
                              .key = RandomKey(5)};
  const Relation relation{.graph = &graph, .fanouts = {}};
  const NodeType type{kNodes, &times};
  const TypeSeeds of_type{seeds, seed_times};
  return sample_typed({&relation, 1}, {&type, 1}, {&of_type, 1}, options);
}

const PickRule kRules[] = {{},
                           {.replace = true},
                           {.weighted = true},
                           {.replace = true, .weighted = true},
                           {.take_last = true}};

}  // namespace

TEST(the_same_from_memory_and_from_disk) {
  const ExampleGraph example;
  const Graph graph(example.graph_path());
  const FeatureMatrix times(example.times_path());
  for (const PickRule& rule : kRules) {
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{20}, kAllNeighbors}) {
      graph.resident_pages().set_read_ahead(ReadAhead::kBatch);
      const TypedSample one = sample_of(graph, times, rule, {k, 3});
      graph.resident_pages().set_read_ahead(ReadAhead::kNone);
      const TypedSample two = sample_of(graph, times, rule, {k, 3});
      const auto ids = one.relations[0].edge_ids->span();
      CHECK(std::ranges::equal(ids, two.relations[0].edge_ids->span()));
      const auto nodes = one.types[0].nodes->span(), trees = one.types[0].batch->span();
      CHECK(std::ranges::equal(nodes, two.types[0].nodes->span()));
      CHECK(nodes.size() > 3 * kNodes);
      // A node is its own time here, and that of tree i is i * 7 % kNodes.
      for (std::size_t i = 3 * kNodes; i < nodes.size(); ++i)
        CHECK(nodes[i] <= trees[i] * 7 % static_cast<std::int64_t>(kNodes));
    }
  }
}

TEST(damaged_lists_are_met) {
  const ExampleGraph example;
  const FeatureMatrix times(example.times_path());
  const Bytes good = read_bytes(example.graph_path());
  const auto damage = [&](SectionKind kind, std::uint64_t at, auto value) {
    write_bytes(example.graph_path(), good);
    Bytes bytes = good;
    put(bytes, Graph(example.graph_path()).find(kind, Direction::kIn)->offset + at * sizeof value,
        value);
    write_bytes(example.graph_path(), bytes);
  };
  for (const std::int32_t value : {-1, 40, INT32_MAX}) {
    for (const std::uint64_t at : {std::uint64_t{100}, std::uint64_t{3500}}) {
      damage(SectionKind::kIndices, at, value);
      const Graph graph(example.graph_path());
      for (const ReadAhead mode : {ReadAhead::kBatch, ReadAhead::kNone}) {
        graph.resident_pages().set_read_ahead(mode);
        CHECK_THROWS_WITH(sample_of(graph, times, {}, {kAllNeighbors}), FormatError, "position");
        CHECK_THROWS_WITH(sample_of(graph, times, {.take_last = true}, {4}), FormatError,
                          "position");
      }
    }
  }
  for (const std::int64_t value : {std::int64_t{-1}, INT64_MAX}) {
    damage(SectionKind::kIndptr, 5, value);
    const Graph graph(example.graph_path());
    for (const PickRule& rule : kRules)
      CHECK_THROWS_WITH(sample_of(graph, times, rule, {3}), FormatError, "damaged");
  }
}

TEST(damaged_alias_tables_are_met) {
  const ExampleGraph example;
  const FeatureMatrix times(example.times_path());
  Bytes bytes = read_bytes(example.graph_path());
  const Section alias = *Graph(example.graph_path()).find(SectionKind::kAlias, Direction::kIn);
  for (std::uint64_t at = 0; at < alias.rows; ++at)
    put(bytes, alias.offset + at * 8, std::uint64_t{3'000'000});
  write_bytes(example.graph_path(), bytes);
  const Graph graph(example.graph_path());
  for (const bool replace : {false, true})
    CHECK_THROWS_WITH(sample_of(graph, times, {.replace = replace, .weighted = true}, {4}),
                      FormatError, "alias table");
}

TEST(times_that_vanish_are_met) {
  const ExampleGraph example;
  const Graph graph(example.graph_path());
  const FeatureMatrix times(example.times_path());
  std::filesystem::resize_file(example.times_path(), 64);
  for (const PickRule& rule : kRules)
    CHECK_THROWS(sample_of(graph, times, rule, {3}), FileChangedError);
}

TEST(tables_that_are_not_times_are_refused) {
  const ExampleGraph example;
  const Graph graph(example.graph_path());
  const auto refused = [&](const std::string& message) {
    CHECK_THROWS_WITH(sample_of(graph, FeatureMatrix(example.times_path()), {}, {3}),
                      std::invalid_argument, message);
  };
  example.write_times(kNodes - 1, std::vector<std::int64_t>(kNodes - 1));
  refused("39 nodes, and 40");
  example.write_times(kNodes, std::vector<std::int64_t>(2 * kNodes));
  refused("one column of int64, not 2 of int64");
  example.write_times(kNodes, std::vector<std::int32_t>(kNodes), DType::kInt32);
  refused("not 1 of int32");
}
