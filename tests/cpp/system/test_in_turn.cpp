// Pieces that are ready in any order: each is worked on once, in order, by one thread at a time.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/system/threads/in_turn.hpp"
#include "graphmount/system/threads/parallel.hpp"

using namespace graphmount;

namespace {

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Draws draws{RandomKey(seed)};
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  return order;
}

}  // namespace

TEST(pieces_are_done_in_order) {
  InTurn turns;
  for (std::size_t count = 0; count < 40; ++count) {
    turns.begin(count);
    std::vector<std::size_t> done;
    for (const std::size_t piece : shuffled(count, count))
      turns.ready(piece, [&](std::size_t i) { done.push_back(i); });
    CHECK_EQUAL(done.size(), count);
    CHECK(std::ranges::is_sorted(done));
  }
}

TEST(threads_leave_none_out) {
  const int before = num_threads();
  set_num_threads(4);
  InTurn turns;
  for (std::uint64_t round = 0; round < 2000; ++round) {
    const auto order = shuffled(33, round);
    turns.begin(order.size());
    std::vector<std::size_t> done;  // without a lock: one thread at a time
    parallel_each(order.size(), 1, [&](std::size_t i) {
      turns.ready(order[i], [&](std::size_t piece) { done.push_back(piece); });
    });
    CHECK_EQUAL(done.size(), order.size());
    CHECK(std::ranges::is_sorted(done));
  }
  set_num_threads(before);
}

TEST(it_can_begin_again_after_an_exception) {
  InTurn turns;
  turns.begin(2);
  CHECK_THROWS(turns.ready(0, [](std::size_t) { throw std::runtime_error("no"); }),
               std::runtime_error);
  turns.begin(1);
  int done = 0;
  turns.ready(0, [&](std::size_t) { ++done; });
  CHECK_EQUAL(done, 1);
}
