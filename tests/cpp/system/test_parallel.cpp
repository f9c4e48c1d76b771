// parallel_for: every range exactly once, whatever the threads, and alive after exceptions, nested
// calls and fork.
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "graphmount/system/threads/parallel.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

// Sums by range; a range missed or met twice changes it, as does one out of bounds.
std::size_t parallel_sum(std::size_t count, std::size_t grain) {
  std::atomic<std::size_t> sum = 0;
  parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sum += i + 1;
  });
  return sum;
}

std::size_t sum_to(std::size_t count) {
  return count * (count + 1) / 2;
}

}  // namespace

TEST(covers_every_item_once) {
  for (const int threads : {1, 2, 3, 8, 33}) {
    set_num_threads(threads);
    CHECK_EQUAL(num_threads(), threads);
    for (const std::size_t count : {0, 1, 2, 7, 64, 1000, 4097}) {
      for (const std::size_t grain :
           {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64},
            std::size_t{5000}, SIZE_MAX}) {
        std::vector<std::atomic<int>> visits(count);
        std::atomic<bool> is_fine = true;
        parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
          if (begin >= end || end - begin > std::max<std::size_t>(grain, 1)) is_fine = false;
          for (std::size_t i = begin; i < end; ++i) ++visits.at(i);
        });
        CHECK(is_fine);
        for (const auto& visited : visits) CHECK_EQUAL(visited.load(), 1);
        parallel_each(count, grain, [&](std::size_t i) { ++visits.at(i); });
        for (const auto& visited : visits) CHECK_EQUAL(visited.load(), 2);
      }
    }
  }
}

TEST(refuses_a_number_of_threads_below_one) {
  set_num_threads(3);
  CHECK_THROWS(set_num_threads(0), std::invalid_argument);
  CHECK_THROWS_WITH(set_num_threads(-4), std::invalid_argument, "-4");
  CHECK_EQUAL(num_threads(), 3);
}

TEST(gives_a_grain_of_several_ranges_a_thread) {
  set_num_threads(2);
  CHECK_EQUAL(balanced_grain(100, 1000), 1000U);
  CHECK(balanced_grain(1'000'000, 10'000) * 16 >= 1'000'000);
  CHECK(balanced_grain(1'000'000, 10'000) * 2 < 1'000'000);
  // However much there is to do, a range is no longer than what ends soon.
  CHECK_EQUAL(balanced_grain(1'000'000, 10), 640U);
  CHECK_EQUAL(balanced_grain(0, 1), 1U);
}

TEST(passes_on_exceptions) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    for (int round = 0; round < 50; ++round) {
      const auto fail = [](std::size_t begin, std::size_t) {
        if (begin == 500) throw std::domain_error("at 500");
      };
      CHECK_THROWS_WITH(parallel_for(1000, 1, fail), std::domain_error, "at 500");
      const auto always_fail = [](std::size_t, std::size_t) { throw std::domain_error("each"); };
      CHECK_THROWS_WITH(parallel_for(1000, 1, always_fail), std::domain_error, "each");
      CHECK_EQUAL(parallel_sum(1000, 10), sum_to(1000));
    }
  }
}

TEST(stops_handing_out_ranges_after_an_exception) {
  set_num_threads(2);
  std::atomic<int> calls = 0;
  const auto fail = [&](std::size_t, std::size_t) {
    ++calls;
    throw std::runtime_error("stop");
  };
  CHECK_THROWS(parallel_for(1'000'000, 1, fail), std::runtime_error);
  CHECK(calls <= 2);
}

TEST(runs_nested_calls_on_their_own_thread) {
  set_num_threads(4);
  std::atomic<std::size_t> sum = 0;
  std::atomic<bool> stayed = true;
  parallel_for(100, 1, [&](std::size_t, std::size_t) {
    const auto caller = std::this_thread::get_id();
    parallel_for(100, 3, [&](std::size_t begin, std::size_t end) {
      if (std::this_thread::get_id() != caller) stayed = false;
      sum += end - begin;
    });
  });
  CHECK(stayed);
  CHECK_EQUAL(sum.load(), 10'000U);
  // The caller is not inside any more, and neither after an exception from within.
  const auto fail = [](std::size_t, std::size_t) {
    parallel_for(10, 1, [](std::size_t, std::size_t) { throw std::runtime_error("within"); });
  };
  CHECK_THROWS(parallel_for(10, 1, fail), std::runtime_error);
  CHECK_EQUAL(parallel_sum(5000, 1), sum_to(5000));
}

TEST(overlapped_work_has_threads_of_its_own) {
  // Each waits for all others, so they must run at the same time, however few cores there are.
  constexpr int kThreads = 12;
  std::atomic<int> waiting = 0;
  std::vector<std::atomic<int>> visits(kThreads);
  overlapped_for(kThreads, kThreads, [&](std::size_t i) {
    CHECK_EQUAL(++visits.at(i), 1);
    ++waiting;
    while (waiting < kThreads) std::this_thread::yield();
  });
  CHECK_EQUAL(waiting.load(), kThreads);
  overlapped_for(0, 4, [&](std::size_t) { ++waiting; });
  overlapped_for(3, 0, [&](std::size_t) { ++waiting; });  // one at a time
  CHECK_EQUAL(waiting.load(), kThreads + 3);
  CHECK_THROWS(overlapped_for(5, 4, [](std::size_t) { throw std::runtime_error("no"); }),
               std::runtime_error);
}

TEST(serves_several_callers_at_once) {
  set_num_threads(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 100; ++round) {
        const auto count = static_cast<std::size_t>(100 + caller * 37 + round);
        if (parallel_sum(count, 7) != sum_to(count)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK_EQUAL(wrong.load(), 0);
}

TEST(does_all_work_of_calls_with_pauses_between_them) {
  // Of about as long as threads look out before they sleep; with fewer threads and more than there
  // are processors.
  for (const int threads : {2, 64, 3}) {
    set_num_threads(threads);
    std::vector<std::thread> callers;
    std::atomic<std::size_t> sum = 0;
    for (unsigned seed = 0; seed < 2; ++seed)
      callers.emplace_back([&sum, seed] {
        std::mt19937 random(seed);
        for (int call = 0; call < 500; ++call) {
          parallel_for(10, 1, [&](std::size_t at, std::size_t) { sum += at; });
          std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
        }
      });
    for (std::thread& caller : callers) caller.join();
    CHECK_EQUAL(sum.load(), std::size_t{2 * 500 * 45});
  }
  set_num_threads(4);
}

TEST(works_after_fork_in_child_and_parent) {
  set_num_threads(4);
  CHECK_EQUAL(parallel_sum(10'000, 10), sum_to(10'000));
  for (int round = 0; round < 5; ++round) {
    const int status = run_in_child([] {
      CHECK_EQUAL(num_threads(), 4);
      CHECK_EQUAL(parallel_sum(10'000, 10), sum_to(10'000));
      // A grandchild, as when a worker starts workers.
      CHECK(is_success(run_in_child([] { CHECK_EQUAL(parallel_sum(999, 1), sum_to(999)); })));
    });
    CHECK(is_success(status));
    CHECK_EQUAL(parallel_sum(10'000, 10), sum_to(10'000));
  }
}

TEST(works_after_fork_while_the_pool_is_busy) {
  set_num_threads(4);
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) parallel_sum(1000, 1);
  });
  std::vector<int> statuses;
  try {
    for (int round = 0; round < 20; ++round)
      statuses.push_back(run_in_child([] { CHECK_EQUAL(parallel_sum(999, 1), sum_to(999)); }));
  } catch (...) {
    stop = true;
    busy.join();
    throw;
  }
  stop = true;
  busy.join();
  for (const int status : statuses) CHECK(is_success(status));
}
