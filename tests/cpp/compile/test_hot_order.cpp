// The order of nodes by counts, against a stable sort.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "graphmount/compile/hot_order.hpp"

using namespace graphmount;

namespace {

std::vector<NodeId> order_of(const std::vector<std::uint32_t>& counts) {
  std::vector<NodeId> order(counts.size(), -1);
  hot_order(counts, order);
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

// One digit has 16 bits; with larger counts, nodes are sorted by a second one.
TEST(around_the_digits) {
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
