// Distinct picks: all places below the count, each once, for every way of picking. That sets of
// them are equally likely is shown by tests/python/test_sampling_distributions.py.
#include <set>

#include "check.hpp"
#include "graphmount/sampling/neighbors/distinct_picks.hpp"

using namespace graphmount;

TEST(picks_are_distinct_and_in_range) {
  std::vector<std::uint64_t> scratch;
  for (const std::uint64_t count : {1, 2, 3, 15, 16, 31, 48, 49, 64, 65, 97, 1000, 100000}) {
    for (const std::uint64_t k : {0, 1, 2, 7, 15, 16, 17, 24, 25, 48, 60, 400, 1000}) {
      if (k > count) continue;
      for (std::uint64_t key = 0; key < 20; ++key) {
        Draws draws{RandomKey(mix_bits(key))};
        std::set<std::uint64_t> picked;
        std::uint64_t next = 0;
        pick_distinct(draws, count, k, scratch, [&](std::uint64_t i, std::uint64_t place) {
          CHECK_EQUAL(i, next++);
          CHECK(place < count);
          picked.insert(place);
        });
        CHECK_EQUAL(picked.size(), static_cast<std::size_t>(k));
      }
    }
  }
}

TEST(a_few_of_very_many) {
  std::vector<std::uint64_t> scratch;
  constexpr std::uint64_t kCount = std::uint64_t{1} << 62;
  bool is_spread = false;
  for (std::uint64_t key = 0; key < 20; ++key) {
    Draws draws{RandomKey(mix_bits(key))};
    pick_distinct(draws, kCount, 15, scratch, [&](std::uint64_t, std::uint64_t place) {
      CHECK(place < kCount);
      is_spread = is_spread || place > kCount / 2;
    });
  }
  CHECK(is_spread);
}
