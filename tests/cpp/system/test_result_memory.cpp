// Results in memory that is used again: whatever was in it before, all of it is written.
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"
#include "graphmount/sampling/neighbors/random_fanout.hpp"
#include "graphmount/sampling/walks/random_walk.hpp"
#include "graphmount/sampling/walks/skip_gram.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 60;
constexpr std::int64_t kPoison = -7'777'777;

/// Has the next results be made in memory full of poison.
void poison() {
  std::vector<ResultBuffer> buffers;
  for (unsigned i = 0; i < 28; ++i) {  // four on each shelf, which is all that is kept
    buffers.emplace_back(i % 7);
    buffers.back()->resize(4000);
    std::ranges::fill(buffers.back()->span(), kPoison);
  }
}

void check_clean(std::span<const std::int64_t> items, const char* what) {
  if (std::ranges::find(items, kPoison) != items.end())
    FAIL(std::string(what) + " has items that were not written");
}

std::vector<NodeId> some_nodes() {
  std::vector<NodeId> nodes(kNodes);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

}  // namespace

TEST(no_item_of_a_result_is_left_as_it_was) {
  const TemporaryFolder folder;
  // Few edges: many lists are shorter than what is asked for, and some are empty.
  write_graph(folder / "g.gl", random_edges(5, kNodes, 90).columns(true, false), {},
              {.num_nodes = kNodes}, {});
  const Graph graph(folder / "g.gl");
  const auto nodes = some_nodes();
  for (const bool weighted : {false, true})
    for (const bool replace : {false, true}) {
      const PickRule rule{.replace = replace, .weighted = weighted};
      for (const bool repeat : {false, true}) {
        poison();
        const auto fanout = random_fanout(graph, nodes, {.k = 7, .rule = rule, .repeat = repeat});
        CHECK_EQUAL(fanout->size(), kNodes * 7);
        check_clean(fanout->span(), "random_fanout");
      }
      for (const bool induced : {false, true})
        for (const bool disjoint : {false, true}) {
          poison();
          const NeighborSample sample = sample_neighbors(
              graph, nodes, {},
              {.fanouts = {3, 2}, .rule = rule, .disjoint = disjoint, .induced = induced});
          for (const auto* items :
               {&sample.nodes, &sample.edge_index, &sample.edge_ids, &sample.batch})
            check_clean((*items)->span(), "sample_neighbors");
        }
    }
  for (const DeadEnd dead_end : {DeadEnd::kStay, DeadEnd::kEnd})
    for (const double p : {1.0, 0.5})
      for (const double restart : {0.0, 0.3}) {
        const WalkOptions options{.p = p, .restart = restart, .dead_end = dead_end};
        const Walkers walkers{nodes, 6, RandomKey(1)};
        poison();
        const auto walks = random_walk(graph, walkers, options);
        CHECK_EQUAL(walks->size(), nodes.size() * 7);
        check_clean(walks->span(), "random_walk");
        const SkipGramWalks pairs(graph, walkers, options, 2);
        poison();
        const auto centers = allocate_result(pairs.num_pairs(), 1, "pairs");
        const auto contexts = allocate_result(pairs.num_pairs(), 1, "pairs");
        const auto drawn = allocate_result(pairs.num_pairs(), 3, "pairs");
        pairs.write_pairs(centers->span(), contexts->span());
        pairs.write_negatives(graph, 3, NegativeWeighting::kDegree, drawn->span());
        check_clean(centers->span(), "centers");
        check_clean(contexts->span(), "contexts");
        check_clean(drawn->span(), "negatives");
      }
  for (const NegativeWeighting weighting :
       {NegativeWeighting::kUniform, NegativeWeighting::kDegree})
    for (const bool is_strict : {false, true})
      for (const bool allows_loops : {false, true}) {
        const NegativeOptions options{weighting, is_strict, allows_loops, -1};
        poison();
        const auto rows = allocate_result(nodes.size(), 4, "rows");
        sample_negatives(graph, nodes, EdgeEnd::kDestination, options, RandomKey(2), rows->span());
        check_clean(rows->span(), "sample_negatives");
        const auto pairs = allocate_result(2, 50, "pairs");
        sample_negative_pairs(graph, options, RandomKey(3), pairs->span().first(50),
                              pairs->span().last(50));
        check_clean(pairs->span(), "sample_negative_pairs");
      }
}

TEST(memory_comes_from_the_shelf_it_went_to) {
  struct Sized {
    std::vector<int> items;
    std::size_t bytes() const { return items.size() * sizeof(int); }
  };
  const auto put = [](unsigned shelf, std::size_t size) {
    const Recycled<Sized> object(shelf);
    object->items.resize(size);
  };
  put(1, 1000);
  put(2, 10);
  CHECK_EQUAL(Recycled<Sized>(1)->items.size(), std::size_t{1000});
  CHECK_EQUAL(Recycled<Sized>(2)->items.size(), std::size_t{10});
  CHECK_EQUAL(Recycled<Sized>(3)->items.size(), std::size_t{0});
  {
    // What is moved keeps its shelf.
    Recycled<Sized> small(2), large(1);
    small = std::move(large);
  }
  CHECK_EQUAL(Recycled<Sized>(1)->items.size(), std::size_t{1000});
  CHECK_EQUAL(Recycled<Sized>(2)->items.size(), std::size_t{10});
  {
    // A shelf that nobody takes from any more makes room for others.
    std::vector<Recycled<Sized>> many;
    for (int i = 0; i < 40; ++i) many.emplace_back(4U)->items.resize(5);
  }
  CHECK_EQUAL(Recycled<Sized>(4)->items.size(), std::size_t{5});
  CHECK_EQUAL(Recycled<Sized>(1)->items.size(), std::size_t{0});
  put(5, Recycled<Sized>::kMostBytes / sizeof(int));
  CHECK_EQUAL(Recycled<Sized>(4)->items.size(), std::size_t{0});
  put(5, Recycled<Sized>::kMostBytes / sizeof(int) + 1);
  CHECK_EQUAL(Recycled<Sized>(5)->items.size(), std::size_t{0});
}
