// What is left without some ranges, against a list of it.
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "graphmount/sampling/negatives/remaining_numbers.hpp"

using namespace graphmount;

TEST(everything_is_left_without_ranges) {
  RemainingNumbers rest;
  CHECK_EQUAL(rest.count(), 0U);
  rest.reset(3);
  CHECK_EQUAL(rest.count(), 3U);
  for (const std::uint64_t rank : {0U, 1U, 2U}) CHECK_EQUAL(rest.at(rank), rank);
}

TEST(ranks_are_those_of_a_list) {
  std::mt19937_64 random(3);
  RemainingNumbers rest;  // one for all, as it is used
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t size = random() % 40;
    rest.reset(size);
    std::vector<std::uint64_t> left;
    for (std::uint64_t at = 0; at < size;) {
      const std::uint64_t gap = random() % 4, length = random() % 4;
      for (std::uint64_t i = 0; i < gap && at < size; ++i) left.push_back(at++);
      const std::uint64_t end = std::min(size, at + length);
      CHECK(rest.exclude(at, end));
      at = end;
    }
    CHECK_EQUAL(rest.count(), left.size());
    for (std::size_t rank = 0; rank < left.size(); ++rank) CHECK_EQUAL(rest.at(rank), left[rank]);
  }
}

TEST(ranges_that_do_not_ascend_change_nothing) {
  RemainingNumbers rest;
  rest.reset(10);
  CHECK(rest.exclude(2, 5));
  CHECK(!rest.exclude(4, 6));
  CHECK(!rest.exclude(0, 1));
  CHECK(!rest.exclude(8, 7));
  CHECK(!rest.exclude(8, 11));
  CHECK(!rest.exclude(UINT64_MAX, UINT64_MAX));
  CHECK_EQUAL(rest.count(), 7U);
  CHECK(rest.exclude(5, 10));
  CHECK_EQUAL(rest.count(), 2U);
  CHECK_EQUAL(rest.at(1), 1U);
}
