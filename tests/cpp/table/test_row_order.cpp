// Sorting ids: against std::stable_sort, for few and many, small and huge.
#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
#include "graphmount/table/reading/row_order.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

void check_order(RowOrder& order, std::uint64_t num_rows, std::size_t count) {
  std::mt19937_64 random(num_rows + count);
  std::vector<std::int64_t> ids(count);
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random() % num_rows);
  std::vector<std::size_t> expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i] = i;
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
  order.sort(ids, num_rows);
  CHECK_EQUAL(order.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_EQUAL(order.place(i), expected[i]);
    CHECK_EQUAL(order.row(i), static_cast<std::uint64_t>(ids[expected[i]]));
  }
}

}  // namespace

TEST(sorts_as_others_do) {
  RowOrder order;  // its memory is used again
  for (const std::uint64_t num_rows :
       {1UL, 2UL, 100UL, 2047UL, 2048UL, 2049UL, 1UL << 32, 1UL << 44, 1UL << 55, (1UL << 63) - 1})
    for (const std::size_t count : {0UL, 1UL, 2UL, 3UL, 1000UL, 1UL << 18})
      check_order(order, num_rows, std::min(count, RowOrder::most_ids(num_rows)));
}

TEST(how_many_at_a_time) {
  CHECK_EQUAL(RowOrder::most_ids(0), std::size_t{1} << 18);
  CHECK_EQUAL(RowOrder::most_ids(1'000'000'000), std::size_t{1} << 18);
  CHECK_EQUAL(RowOrder::most_ids(std::uint64_t{1} << 50), std::size_t{1} << 12);
  CHECK_EQUAL(RowOrder::most_ids(UINT64_MAX), 1U);
}
