// Seeds of batches: how inputs are cut, how the ends of links and negatives lie, that they are a
// function of batch and key, and what happens where there is no negative.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/loading/link_seeds.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

using Numbers = std::vector<std::int64_t>;
constexpr NodeId kNodes = 12;
constexpr NegativeOptions kStrict{NegativeWeighting::kUniform, true, false, {}};
const LinkNegatives kNoNegatives;

// All edges but those from a node to itself and to the next `missing` ones.
Edges nearly_complete(NodeId missing) {
  Edges edges;
  for (NodeId source = 0; source < kNodes; ++source)
    for (NodeId step = missing + 1; step < kNodes; ++step)
      edges.add(source, (source + step) % kNodes);
  return edges;
}

std::shared_ptr<const Graph> compiled(const TemporaryFolder& folder, const Edges& edges,
                                      GraphOptions options = {.num_nodes = kNodes}) {
  write_graph(folder / "g.gl", edges.columns(), {}, options, {});
  return std::make_shared<const Graph>(folder / "g.gl");
}

std::shared_ptr<const Links> some_links(bool with_times = false) {
  Links links{{3, 1, 4, 1, 5, 9, 2}, {5, 3, 5, 8, 9, 7, 9}, {}};
  if (with_times) links.times = {10, 11, 12, 13, 14, 15, 16};
  return std::make_shared<const Links>(std::move(links));
}

// Backwards, so that places and order are not the same.
const Numbers kOrder{6, 5, 4, 3, 2, 1, 0};

/// The nodes at the ends, as they lie.
Numbers nodes_at_ends(const BatchSeeds& seeds) {
  Numbers nodes;
  for (const std::int64_t end : seeds.ends)
    nodes.push_back(seeds.nodes.at(static_cast<std::size_t>(end)));
  return nodes;
}

Numbers part(const Numbers& numbers, std::size_t begin, std::size_t count) {
  const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST(nodes_are_cut_into_batches) {
  const NodeSeeds seeds({5, 6, 7, 8, 9}, {1, 2, 3, 4, 5}, 2);
  CHECK_EQUAL(seeds.num_batches(), 3U);
  CHECK_EQUAL(seeds.seeds_of(1, RandomKey(0)).nodes, (Numbers{7, 8}));
  CHECK_EQUAL(seeds.seeds_of(1, RandomKey(0)).times, (Numbers{3, 4}));
  CHECK_EQUAL(seeds.seeds_of(2, RandomKey(0)).nodes, (Numbers{9}));
  CHECK(seeds.seeds_of(2, RandomKey(0)).ends.empty());
  CHECK_THROWS_WITH(seeds.seeds_of(3, RandomKey(0)), std::out_of_range, "no batch 3 of 3");
  CHECK_EQUAL(NodeSeeds({}, {}, 4).num_batches(), 0U);
  CHECK_THROWS_WITH(NodeSeeds({1}, {}, 0), std::invalid_argument, "batch_size");
  CHECK_THROWS_WITH(NodeSeeds({1, 2}, {1}, 1), std::invalid_argument, "1 times for 2 seeds");
}

TEST(checksums_tell_links_apart) {
  const Links links{{1, 2}, {3, 4}, {}}, turned{{3, 4}, {1, 2}, {}}, other{{1, 2}, {3, 5}, {}};
  CHECK(links.checksum() == Links({1, 2}, {3, 4}, {7, 8}).checksum());
  CHECK(links.checksum() != turned.checksum());
  CHECK(links.checksum() != other.checksum());
}

TEST(links_without_negatives_have_distinct_ends) {
  const TemporaryFolder folder;
  const LinkSeeds source(compiled(folder, nearly_complete(1)), some_links(), kOrder, 3, false,
                         kNoNegatives);
  CHECK_EQUAL(source.num_batches(), 3U);
  const BatchSeeds seeds = source.seeds_of(0, RandomKey(1));
  CHECK_EQUAL(seeds.nodes, (Numbers{2, 5, 7, 9}));
  CHECK_EQUAL(nodes_at_ends(seeds), (Numbers{2, 9, 5, 9, 7, 9}));
  CHECK_EQUAL(nodes_at_ends(source.seeds_of(2, RandomKey(1))), (Numbers{3, 5}));
}

TEST(pairs_lie_behind_links_and_are_no_edges) {
  const TemporaryFolder folder;
  const auto graph = compiled(folder, nearly_complete(1));
  for (const double amount : {0.25, 1.0, 1.5, 3.0}) {
    const LinkSeeds source(graph, some_links(), kOrder, 4, false,
                           {NegativeMode::kBinary, amount, kStrict});
    for (const std::size_t batch : {0U, 1U}) {
      const std::size_t num_links = batch == 0 ? 4 : 3;
      const auto num_negatives =
          static_cast<std::size_t>(std::ceil(static_cast<double>(num_links) * amount));
      const BatchSeeds seeds = source.seeds_of(batch, RandomKey(5));
      CHECK(std::is_sorted(seeds.nodes.begin(), seeds.nodes.end()));
      const Numbers ends = nodes_at_ends(seeds);
      CHECK_EQUAL(ends.size(), 2 * (num_links + num_negatives));
      const Numbers sources = part(ends, 0, ends.size() / 2);
      const Numbers destinations = part(ends, ends.size() / 2, ends.size() / 2);
      CHECK_EQUAL(part(sources, 0, num_links),
                  batch == 0 ? Numbers({2, 9, 5, 1}) : Numbers({4, 1, 3}));
      CHECK_EQUAL(part(destinations, 0, num_links),
                  batch == 0 ? Numbers({9, 7, 9, 8}) : Numbers({5, 3, 5}));
      for (std::size_t i = num_links; i < sources.size(); ++i)
        CHECK_EQUAL(destinations[i], (sources[i] + 1) % kNodes);
    }
  }
}

TEST(triplets_belong_to_their_sources) {
  const TemporaryFolder folder;
  const auto graph = compiled(folder, nearly_complete(2));
  for (const bool disjoint : {false, true}) {
    const LinkSeeds source(graph, some_links(), kOrder, 4, disjoint,
                           {NegativeMode::kTriplet, 5, kStrict});
    const BatchSeeds seeds = source.seeds_of(0, RandomKey(5));
    const Numbers ends = nodes_at_ends(seeds);
    CHECK_EQUAL(ends.size(), 4U + 4U + 20U);
    if (disjoint) CHECK_EQUAL(seeds.nodes, ends);
    std::set<NodeId> steps;
    for (std::size_t i = 8; i < ends.size(); ++i)
      steps.insert((ends[i] - ends[i % 4] + kNodes) % kNodes);
    CHECK_EQUAL(steps, (std::set<NodeId>{1, 2}));
  }
}

TEST(negatives_have_the_times_of_their_links) {
  const TemporaryFolder folder;
  const auto graph = compiled(folder, nearly_complete(1));
  const LinkSeeds pairs(graph, some_links(true), kOrder, 2, true,
                        {NegativeMode::kBinary, 1.5, kStrict});
  CHECK_EQUAL(pairs.seeds_of(0, RandomKey(5)).times,
              (Numbers{16, 15, 16, 15, 16, 16, 15, 16, 15, 16}));
  const LinkSeeds triplets(graph, some_links(true), kOrder, 2, true,
                           {NegativeMode::kTriplet, 2, kStrict});
  CHECK_EQUAL(triplets.seeds_of(0, RandomKey(5)).times, (Numbers{16, 15, 16, 15, 16, 15, 16, 15}));
}

TEST(seeds_are_a_function_of_batch_and_key) {
  const TemporaryFolder folder;
  const auto graph = compiled(folder, random_edges(1, kNodes, 30));
  for (const NegativeMode mode : {NegativeMode::kBinary, NegativeMode::kTriplet}) {
    const LinkSeeds source(graph, some_links(), kOrder, 3, true, {mode, 4, kStrict});
    const Numbers second = source.seeds_of(1, RandomKey(7)).nodes;
    const Numbers first = source.seeds_of(0, RandomKey(7)).nodes;
    const int before = num_threads();
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      CHECK_EQUAL(source.seeds_of(0, RandomKey(7)).nodes, first);
      CHECK_EQUAL(source.seeds_of(1, RandomKey(7)).nodes, second);
    }
    set_num_threads(before);
    CHECK(source.seeds_of(0, RandomKey(8)).nodes != first);
  }
}

TEST(where_there_is_no_negative_any_node_may_come) {
  const TemporaryFolder folder;
  const auto graph = compiled(folder, nearly_complete(0));
  for (const NegativeMode mode : {NegativeMode::kBinary, NegativeMode::kTriplet}) {
    const LinkSeeds source(graph, some_links(), kOrder, 7, true, {mode, 50, kStrict});
    const Numbers nodes = source.seeds_of(0, RandomKey(7)).nodes;
    CHECK_EQUAL(*std::min_element(nodes.begin(), nodes.end()), 0);
    CHECK_EQUAL(*std::max_element(nodes.begin(), nodes.end()), kNodes - 1);
  }
  // One source has no negative, the others have one each.
  Edges edges = nearly_complete(1);
  edges.add(2, 3);
  const TemporaryFolder other_folder;
  const auto other = compiled(other_folder, edges);
  const LinkSeeds source(other, some_links(), kOrder, 7, true,
                         {NegativeMode::kTriplet, 50, kStrict});
  const Numbers ends = source.seeds_of(0, RandomKey(7)).nodes;
  std::set<NodeId> drawn;
  for (std::size_t i = 14; i < ends.size(); ++i)
    if (ends[i % 7] == 2)
      drawn.insert(ends[i]);
    else
      CHECK_EQUAL(ends[i], (ends[i % 7] + 1) % kNodes);
  CHECK(drawn.size() > 6);
}

TEST(weighted_negatives_are_no_edges_where_that_can_be) {
  const TemporaryFolder folder;
  const auto graph = compiled(folder, nearly_complete(2));
  std::vector<double> weights(kNodes, 1);
  weights[4] = 0;
  const auto nodes = std::make_shared<const NodeWeights>(weights);
  for (const NegativeMode mode : {NegativeMode::kBinary, NegativeMode::kTriplet}) {
    const LinkSeeds source(graph, some_links(), kOrder, 7, true, {mode, 30, kStrict, nodes, nodes});
    const Numbers ends = source.seeds_of(0, RandomKey(7)).nodes;
    const std::size_t half = ends.size() / 2;
    const bool is_binary = mode == NegativeMode::kBinary;
    for (std::size_t i = is_binary ? half + 7 : 14; i < ends.size(); ++i) {
      const NodeId from = ends[is_binary ? i - half : i % 7];
      const NodeId step = (ends[i] - from + kNodes) % kNodes;
      CHECK(ends[i] != 4);
      CHECK(step == 1 || step == 2);
      if (is_binary) CHECK(from != 4);
    }
    CHECK_EQUAL(source.seeds_of(0, RandomKey(7)).nodes, ends);
  }
  weights.pop_back();
  const auto few = std::make_shared<const NodeWeights>(weights);
  CHECK_THROWS_WITH(LinkSeeds(graph, some_links(), kOrder, 7, true,
                              {NegativeMode::kTriplet, 1, kStrict, {}, few}),
                    std::invalid_argument, "dst_weight has 11 weights for 12 nodes");
}

TEST(what_cannot_be_drawn_is_said_at_once) {
  const TemporaryFolder folder;
  const auto graph = compiled(folder, random_edges(1, kNodes, 30));
  const auto make = [&](const std::shared_ptr<const Graph>& of, Links links, Numbers order,
                        LinkNegatives negatives) {
    return LinkSeeds(of, std::make_shared<const Links>(std::move(links)), std::move(order), 1,
                     false, negatives);
  };
  CHECK_THROWS_WITH(make(graph, {{1}, {}, {}}, {0}, {}), std::invalid_argument, "1 sources");
  CHECK_THROWS_WITH(make(graph, {{1}, {2}, {3, 4}}, {0}, {}), std::invalid_argument, "2 times");
  CHECK_THROWS(make(graph, {{1}, {kNodes}, {}}, {0}, {}), IdError);
  CHECK_THROWS(make(graph, {{1}, {2}, {}}, {1}, {}), IdError);
  CHECK_THROWS_WITH(make(graph, {{1}, {2}, {}}, {0}, {NegativeMode::kBinary, 0, kStrict}),
                    std::invalid_argument, "above 0");
  CHECK_THROWS_WITH(make(graph, {{1}, {2}, {}}, {0}, {NegativeMode::kTriplet, 1.5, kStrict}),
                    std::invalid_argument, "whole");
  const TemporaryFolder other_folder;
  const auto incoming = compiled(other_folder, random_edges(1, kNodes, 30),
                                 {.num_nodes = kNodes, .out_lists = false});
  CHECK_THROWS(make(incoming, {{1}, {2}, {}}, {}, {NegativeMode::kTriplet, 1, kStrict}),
               MissingDataError);
  make(incoming, {{1}, {2}, {}}, {}, {NegativeMode::kBinary, 1, kStrict});
}
