// Random keys and draws: results must not change from one version to the next, or from one machine
// to another, because users write seeds down.
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "check.hpp"
#include "graphmount/base/random.hpp"

using namespace graphmount;

TEST(draws_are_what_they_always_were) {
  Draws draws(make_key(std::vector<std::uint64_t>{7, 1, 2}));
  CHECK_EQUAL(draws.bits(), 0xCFEBB48BE8C0EFB7ULL);
  CHECK_EQUAL(draws.bits(), 0xFBE689A267FF9CEAULL);
  CHECK_EQUAL(make_key(std::vector<std::uint64_t>{0}).bits(), 0xD8BC90081EAE03B1ULL);
}

TEST(keys_differ_in_every_part_and_in_their_order) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 20; ++a) {
    seen.insert(make_key(std::vector{a}).bits());
    for (std::uint64_t b = 0; b < 20; ++b) {
      seen.insert(make_key(std::vector{a, b}).bits());
      for (std::uint64_t c = 0; c < 20; ++c) seen.insert(make_key(std::vector{a, b, c}).bits());
    }
  }
  CHECK_EQUAL(seen.size(), std::size_t{20 + 400 + 8000});
}

TEST(numbers_lie_in_their_ranges) {
  CHECK_EQUAL(scale_bits(0, 10), 0ULL);
  CHECK_EQUAL(scale_bits(UINT64_MAX, 10), 9ULL);
  CHECK_EQUAL(scale_bits(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
  CHECK_EQUAL(to_unit(0), 0.0);
  CHECK(to_unit(UINT64_MAX) < 1.0);
}

TEST(bits_are_even) {
  std::array<int, 64> ones{};
  Draws draws{RandomKey(1)};
  constexpr int kDraws = 10000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t bits = draws.bits();
    for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += bits >> bit & 1 ? 1 : 0;
  }
  // Six standard deviations of 50 to either side.
  for (const int count : ones) CHECK(count > kDraws / 2 - 300 && count < kDraws / 2 + 300);
}
