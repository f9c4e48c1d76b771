// Parts of parallel work that take turns.
#include <atomic>
#include <vector>

#include "check.hpp"
#include "graphmount/system/threads/ordered_turns.hpp"
#include "graphmount/system/threads/parallel.hpp"

using namespace graphmount;

TEST(one_part_has_its_turn_after_the_other) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    Turns turns;
    std::vector<std::int64_t> order;  // not locked: that is what the turns are for
    parallel_for(1000, 1, [&](std::int64_t at, std::int64_t) {
      CHECK(turns.wait(static_cast<std::size_t>(at)));
      order.push_back(at);
      turns.end();
    });
    CHECK_EQUAL(order.size(), std::size_t{1000});
    for (std::size_t i = 0; i < order.size(); ++i)
      CHECK_EQUAL(order[i], static_cast<std::int64_t>(i));
    CHECK(!turns.are_over());
  }
}

TEST(nobody_waits_when_turns_are_over) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    Turns turns;
    std::atomic<int> num_turns = 0;
    parallel_for(100, 1, [&](std::int64_t at, std::int64_t) {
      if (at == 50) return turns.stop();  // whether or not its turn has come
      if (!turns.wait(static_cast<std::size_t>(at))) return;
      ++num_turns;
      turns.end();
    });
    CHECK(num_turns <= 50);
    CHECK(turns.are_over());
    CHECK(!turns.wait(0));
  }
}

TEST(tells_whether_there_is_something_to_wait_for) {
  Turns turns;
  CHECK(turns.need_not_wait(0));
  CHECK(!turns.need_not_wait(1));
  turns.end();
  CHECK(turns.need_not_wait(1));
  turns.stop();
  CHECK(turns.need_not_wait(7));
}
