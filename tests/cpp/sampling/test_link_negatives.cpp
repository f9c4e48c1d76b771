// Negatives of links between two types of nodes: each end from its own type, strict where that is
// possible, any node where it is not. Links of one type are tested with the loaders, in Python.
#include <algorithm>
#include <set>
#include <utility>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/sampling/negatives/link_negatives.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr NodeId kSources = 5, kDestinations = 30;

/// Source 4 has edges to all destinations; the others to every second one, and never to the one of
/// the same number.
bool is_edge(NodeId source, NodeId destination) {
  return source == 4 || (source + destination) % 2 == 1;
}

Edges some_edges() {
  Edges edges;
  for (NodeId source = 0; source < kSources; ++source)
    for (NodeId destination = 0; destination < kDestinations; ++destination)
      if (is_edge(source, destination)) edges.add(source, destination);
  return edges;
}

class ExampleGraph {
 public:
  ExampleGraph() {
    write_graph(folder_ / "g.gl", some_edges().columns(), {},
                {.num_nodes = kDestinations, .rectangular = true, .num_sources = kSources}, {});
  }
  Graph open() const { return Graph(folder_ / "g.gl"); }

 private:
  TemporaryFolder folder_;
};

std::shared_ptr<const NodeWeights> rising_weights(NodeId count) {
  std::vector<double> weights;
  for (NodeId node = 0; node < count; ++node) weights.push_back(static_cast<double>(node));
  return std::make_shared<const NodeWeights>(weights);
}

/// All ways to draw: evenly, by degree, by weights of either end or of both.
std::vector<LinkNegatives> all_ways(NegativeMode mode) {
  const NegativeOptions strict{.is_strict = true, .allows_self_loops = false, .pad = {}};
  NegativeOptions by_degree = strict;
  by_degree.weighting = NegativeWeighting::kDegree;
  const auto sources = rising_weights(kSources), destinations = rising_weights(kDestinations);
  return {{.mode = mode, .amount = 3, .draws = strict},
          {.mode = mode, .amount = 3, .draws = by_degree},
          {.mode = mode, .amount = 3, .draws = strict, .source_weights = sources},
          {.mode = mode, .amount = 3, .draws = strict, .destination_weights = destinations},
          {.mode = mode,
           .amount = 3,
           .draws = strict,
           .source_weights = sources,
           .destination_weights = destinations}};
}

}  // namespace

TEST(pairs_have_ends_of_their_own_types) {
  const ExampleGraph example;
  const Graph graph = example.open();
  for (const LinkNegatives& negatives : all_ways(NegativeMode::kBinary)) {
    require_drawable(graph, negatives);
    const std::vector<NodeId> pairs = draw_negative_pairs(graph, negatives, 100, RandomKey(1));
    CHECK_EQUAL(pairs.size(), 600U);
    std::set<NodeId> sources, destinations;
    bool has_equal_numbers = false;
    for (std::size_t i = 0; i < 300; ++i) {
      CHECK(pairs[i] >= 0 && pairs[i] < kSources);
      CHECK(pairs[300 + i] >= 0 && pairs[300 + i] < kDestinations);
      CHECK(!is_edge(pairs[i], pairs[300 + i]));
      sources.insert(pairs[i]);
      destinations.insert(pairs[300 + i]);
      has_equal_numbers |= pairs[i] == pairs[300 + i];
    }
    // Of source 4 there are no negatives; by weight, node 0 is never drawn.
    CHECK_EQUAL(sources.size(), negatives.source_weights ? 3U : 4U);
    CHECK(destinations.size() > 20U);
    CHECK(has_equal_numbers || negatives.destination_weights);  // which are small, and rare
  }
}

TEST(destinations_of_sources_are_strict_if_that_is_possible) {
  const ExampleGraph example;
  const Graph graph = example.open();
  const std::vector<NodeId> sources = {0, 4, 3, 2};
  for (const LinkNegatives& negatives : all_ways(NegativeMode::kTriplet)) {
    require_drawable(graph, negatives);
    for (std::uint64_t key = 0; key < 50; ++key) {
      const std::vector<NodeId> drawn =
          draw_negative_destinations(graph, negatives, sources, RandomKey(key));
      CHECK_EQUAL(drawn.size(), 12U);
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        CHECK(drawn[i] >= 0 && drawn[i] < kDestinations);
        CHECK(sources[i / 3] == 4 || !is_edge(sources[i / 3], drawn[i]));
      }
    }
  }
}

TEST(weights_are_for_the_nodes_of_an_end) {
  const ExampleGraph example;
  const Graph graph = example.open();
  LinkNegatives negatives{.mode = NegativeMode::kBinary};
  negatives.source_weights = rising_weights(kDestinations);
  CHECK_THROWS_WITH(require_drawable(graph, negatives), std::invalid_argument,
                    "src_weight has 30 weights for 5 nodes");
  negatives.source_weights = nullptr;
  negatives.destination_weights = rising_weights(kSources);
  CHECK_THROWS_WITH(require_drawable(graph, negatives), std::invalid_argument,
                    "dst_weight has 5 weights for 30 nodes");
}

TEST(negatives_are_not_later_than_their_links) {
  const ExampleGraph example;
  const Graph graph = example.open();
  std::vector<std::int64_t> source_times, destination_times;
  for (NodeId node = 0; node < kSources; ++node) source_times.push_back(4 - node);
  for (NodeId node = 0; node < kDestinations; ++node) destination_times.push_back(node % 10);
  const std::vector<std::int64_t> times = {4, 9, 5};
  const std::vector<NodeId> sources = {0, 4, 3};
  for (const NegativeMode mode : {NegativeMode::kBinary, NegativeMode::kTriplet}) {
    for (LinkNegatives negatives : all_ways(mode)) {
      negatives.source_times = std::make_shared<const EarlyNodes>(source_times);
      negatives.destination_times = std::make_shared<const EarlyNodes>(destination_times);
      require_drawable(graph, negatives, times);
      for (std::uint64_t key = 0; key < 50; ++key) {
        if (mode == NegativeMode::kBinary) {
          const std::vector<NodeId> pairs =
              draw_negative_pairs(graph, negatives, 3, RandomKey(key), {}, times);
          for (std::size_t i = 0; i < 9; ++i) {
            CHECK(4 - pairs[i] <= times[i % 3]);
            CHECK(pairs[9 + i] % 10 <= times[i % 3]);
          }
        } else {
          const std::vector<NodeId> drawn =
              draw_negative_destinations(graph, negatives, sources, RandomKey(key), {}, times);
          for (std::size_t i = 0; i < 9; ++i) CHECK(drawn[i] % 10 <= times[i / 3]);
        }
      }
    }
  }
}

TEST(links_before_all_nodes_and_times_that_are_missing_are_refused) {
  const ExampleGraph example;
  const Graph graph = example.open();
  LinkNegatives negatives{.mode = NegativeMode::kTriplet};
  negatives.destination_times =
      std::make_shared<const EarlyNodes>(std::vector<std::int64_t>(kDestinations, 5));
  const std::vector<std::int64_t> times = {7, 4, 6};
  CHECK_THROWS_WITH(require_drawable(graph, negatives, times), std::invalid_argument,
                    "a link has the time 4, and all nodes that could be its negatives are later");
  const std::vector<NodeId> sources = {0, 1};
  CHECK_THROWS_WITH(draw_negative_destinations(graph, negatives, sources, RandomKey(1), {}, times),
                    std::invalid_argument, "there are 3 times for 2 links");
  negatives.destination_times =
      std::make_shared<const EarlyNodes>(std::vector<std::int64_t>(kSources, 5));
  CHECK_THROWS_WITH(require_drawable(graph, negatives, times), std::invalid_argument,
                    "there are 5 times for 30 nodes");
}

TEST(early_nodes_are_ordered_by_time_and_then_by_id) {
  const std::vector<std::int64_t> times = {3, INT64_MIN, 3, -1, INT64_MAX};
  const EarlyNodes nodes(times);
  CHECK_EQUAL(nodes.count(INT64_MIN), 1U);
  CHECK_EQUAL(nodes.count(-2), 1U);
  CHECK_EQUAL(nodes.count(2), 2U);
  CHECK_EQUAL(nodes.count(3), 4U);
  CHECK_EQUAL(nodes.count(INT64_MAX), 5U);
  const std::vector<NodeId> wanted = {1, 3, 0, 2, 4};
  for (std::size_t rank = 0; rank < wanted.size(); ++rank)
    CHECK_EQUAL(nodes.at(rank), wanted[rank]);
  CHECK(nodes.is_late(0, 2) && !nodes.is_late(0, 3));
}
