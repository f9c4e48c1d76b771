// A team: every range once, and exceptions. Here without OpenMP; Python's tests have torch's.
#include <atomic>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphmount/system/threads/team.hpp"

using namespace graphmount;

TEST(every_range_is_done_once) {
  for (const std::size_t count : {0, 1, 7, 1000}) {
    std::vector<std::atomic<int>> done(count);
    team_for(count, 3, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++done[i];
    });
    for (const auto& times : done) CHECK_EQUAL(times.load(), 1);
  }
}

TEST(an_exception_is_thrown_to_the_caller) {
  CHECK_THROWS(team_for(100, 1,
                        [](std::size_t begin, std::size_t) {
                          if (begin == 50) throw std::runtime_error("no");
                        }),
               std::runtime_error);
}
