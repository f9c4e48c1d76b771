// Parts of parallel work that add up in their order.
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/running_total.hpp"

using namespace graphmount;

TEST(tells_each_part_what_is_before_it) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    RunningTotal total;
    std::vector<std::size_t> before(1000);
    parallel_for(1000, 1, [&](std::size_t part, std::size_t) {
      before[part] = total.add(part, part).value();
    });
    for (std::size_t part = 0; part < before.size(); ++part)
      CHECK_EQUAL(before[part], part * (part - 1) / 2);
    CHECK_EQUAL(total.total(), std::size_t{1000 * 999 / 2});
  }
}

TEST(lets_nobody_wait_for_a_part_that_failed) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    RunningTotal total;
    const auto work = [&](std::size_t at, std::size_t) {
      if (at == 50) {
        total.fail();
        throw std::runtime_error("part 50");
      }
      const auto before = total.add(at, 1);
      CHECK(before.has_value() || threads > 1);
    };
    CHECK_THROWS_WITH(parallel_for(100, 1, work), std::runtime_error, "part 50");
  }
}
