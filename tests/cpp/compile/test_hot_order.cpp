// The order of nodes by counts, against a stable sort, and by what compilers have counted.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/hot_order.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

// By new ids of 8 bytes, and of 4 in the place of the counts, which must be the same.
std::vector<NodeId> order_of(const std::vector<std::uint32_t>& counts) {
  std::vector<NodeId> ids(counts.size(), -1), order(counts.size(), -1);
  rank_by_count<NodeId>(counts, ids);
  std::vector<std::uint32_t> narrow = counts;
  rank_by_count<std::uint32_t>(narrow, narrow);
  CHECK(std::ranges::equal(narrow, ids));
  for (std::size_t node = 0; node < ids.size(); ++node)
    order[static_cast<std::size_t>(ids[node])] = static_cast<NodeId>(node);
  return order;
}

std::vector<NodeId> naive_order(const std::vector<std::uint32_t>& counts) {
  std::vector<NodeId> order(counts.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    return counts[static_cast<std::size_t>(a)] > counts[static_cast<std::size_t>(b)];
  });
  return order;
}

std::vector<std::uint32_t> random_counts(std::uint64_t seed, std::size_t size, std::uint32_t most) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::uint32_t> count(0, most);
  std::vector<std::uint32_t> counts(size);
  for (std::uint32_t& value : counts) value = count(random);
  return counts;
}

}  // namespace

TEST(of_no_nodes_and_of_one) {
  CHECK(order_of({}).empty());
  CHECK(order_of({0}) == std::vector<NodeId>{0});
  CHECK(order_of({std::numeric_limits<std::uint32_t>::max()}) == std::vector<NodeId>{0});
}

TEST(those_that_are_alike_stay_in_order) {
  CHECK(order_of({2, 5, 2, 0, 5, 2}) == std::vector<NodeId>{1, 4, 0, 2, 5, 3});
  CHECK(order_of({7, 7, 7, 7}) == std::vector<NodeId>{0, 1, 2, 3});
}

// Nodes with counts from 2^16 on are sorted in another way than the others.
TEST(around_the_largest_count_of_many) {
  for (const std::uint32_t most : {0xFFFEU, 0xFFFFU, 0x10000U, 0x10001U, 0xFFFFFFFFU}) {
    const std::vector<std::uint32_t> counts{0, most, 1, most - 1, 0xFFFF, 0xFFFE, most, 0};
    CHECK(order_of(counts) == naive_order(counts));
  }
  CHECK(order_of({0x10000, 0xFFFF, 0x20000, 0x10001, 0x0FFFF}) ==
        std::vector<NodeId>{2, 3, 0, 1, 4});
}

TEST(random_counts_of_all_sizes) {
  std::uint64_t seed = 0;
  for (const std::size_t size : {2U, 3U, 100U, 5'000U, 200'000U})
    for (const std::uint32_t most : {0U, 1U, 3U, 1'000U, 0xFFFFU, 0x10000U, 5'000'000U, ~0U}) {
      const std::vector<std::uint32_t> counts = random_counts(++seed, size, most);
      CHECK(order_of(counts) == naive_order(counts));
    }
}

// Two relations in which the same nodes are sources, one of them on disk, and one without edges.
TEST(by_the_lists_of_several_compilers) {
  const TemporaryFolder folder;
  const Edges first = random_edges(6, 300, 20'000), second = random_edges(7, 200, 5'000);
  const GraphCompiler none({.num_nodes = 310});
  GraphCompiler large({.num_nodes = 310, .memory = 64 << 10, .folder = folder.path()});
  GraphCompiler small({.num_nodes = {}});
  add_in_batches(large, first.columns(), 1500);
  add_in_batches(small, second.columns(), 1500);
  std::vector<std::uint32_t> expected(310);
  for (const NodeId src : first.src) ++expected[static_cast<std::size_t>(src)];
  for (const NodeId src : second.src) ++expected[static_cast<std::size_t>(src)];
  rank_by_count<std::uint32_t>(expected, expected);
  const std::vector<const GraphCompiler*> compilers = {&large, &none, &small};
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    std::vector<std::uint32_t> ids(310, 77);
    std::vector<NodeId> wide(310, 77);
    std::uint64_t told = 0;
    hot_ids<std::uint32_t>(compilers, ids, [&](std::uint64_t done, std::uint64_t total) {
      CHECK_EQUAL(total, 25'000U);
      CHECK(done >= told);
      told = done;
    });
    CHECK_EQUAL(told, 25'000U);
    CHECK(ids == expected);
    hot_ids<NodeId>(compilers, wide, {});
    CHECK(std::ranges::equal(wide, expected));
    std::vector<std::uint32_t> too_few(309);
    CHECK_THROWS_WITH(hot_ids<std::uint32_t>(compilers, too_few, {}), std::invalid_argument,
                      "edges name 310 nodes, and there are 309");
  }
}

TEST(counts_stay_at_the_largest) {
  GraphCompiler compiler({.num_nodes = 2, .undirected = true});
  std::vector<NodeId> src(100'000, 0), dst(100'000, 1);
  compiler.add({src, dst, std::nullopt, std::nullopt});
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    std::vector<std::uint32_t> counts = {UINT32_MAX - 99'999, UINT32_MAX - 100'001};
    compiler.add_appearances(counts, [](std::uint64_t) {});
    CHECK_EQUAL(counts[0], UINT32_MAX);
    CHECK_EQUAL(counts[1], UINT32_MAX - 1);
  }
}
