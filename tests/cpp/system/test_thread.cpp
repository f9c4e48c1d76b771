// Threads that cannot be started, and what has them in a child of fork.
#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/memory/buffer_pool.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/process_bound.hpp"
#include "graphmount/system/threads/thread.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

/// Leaves no room for the stack of another thread.
void allow_no_more_threads() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  const auto bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{2} << 20);
  const rlimit limit{bytes, bytes};
  CHECK_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
}

/// Like what has threads in the core: one that waits, and a lock that it may hold.
class Waiter {
 public:
  Waiter() : thread_([this] { wait(); }) {
    while (!is_waiting_) std::this_thread::yield();
  }
  ~Waiter() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
  }

  std::mutex& mutex() { return mutex_; }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    is_waiting_ = true;
    changed_.wait(lock, [&] { return is_over_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_waiting_ = false;
  bool is_over_ = false;
  Thread thread_;
};

}  // namespace

TEST(a_thread_is_waited_for) {
  std::atomic<int> count = 0;
  {
    Thread first([&] { ++count; });
    Thread second([&] { ++count; });
    first.join();
    first.join();
    CHECK(!first.is_joinable());
    first = Thread([&] { ++count; });
    Thread third = std::move(second);
    CHECK(!second.is_joinable());
  }
  CHECK_EQUAL(count.load(), 3);
}

TEST(a_limit_on_threads_is_an_error_in_words) {
#if defined(__SANITIZE_ADDRESS__)
  skip("AddressSanitizer needs address space of its own");
#endif
  CHECK(is_success(run_in_child([] {
    allow_no_more_threads();
    std::atomic<bool> is_over = false;
    std::vector<Thread> threads;  // some get the stacks of those that have ended
    const auto start_many = [&] {
      for (int i = 0; i < 1000; ++i)
        threads.emplace_back([&] {
          while (!is_over) std::this_thread::yield();
        });
    };
    try {
      CHECK_THROWS_WITH(start_many(), ThreadError, "raise the limit on threads");
      std::atomic<std::size_t> sum = 0;
      set_num_threads(4);
      parallel_for(1000, 10, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
      overlapped_for(100, 32, [&](std::size_t) { ++sum; });
      CHECK_EQUAL(sum.load(), 1100U);
    } catch (...) {
      is_over = true;
      throw;
    }
    is_over = true;
  })));
}

TEST(what_has_threads_is_left_alone_in_a_child) {
  auto waiter = ProcessBound<Waiter>::make();
  CHECK(waiter.is_here());
  CHECK(!ProcessBound<Waiter>().is_here());
  for (const bool is_locked : {false, true}) {
    std::unique_lock lock(waiter->mutex(), std::defer_lock);
    if (is_locked) lock.lock();
    CHECK(is_success(run_in_child([&] {
      CHECK(!waiter.is_here());
      waiter = {};
    })));
  }
}

TEST(buffers_come_back_in_a_child) {
  if (!kCanFork) skip("ThreadSanitizer does not follow fork");
  std::atomic<bool> is_over = false;
  BufferPool pool(2);
  // Another thread has the lock of the pool at any moment.
  Thread busy([&] {
    while (!is_over) auto handle = pool.take(100);
  });
  const struct End {
    std::atomic<bool>& flag;
    ~End() { flag = true; }
  } end{is_over};
  for (int i = 0; i < 100; ++i) {
    auto handle = pool.take(1000);
    const int status = run_in_child([&] { auto other = std::move(handle); });
    CHECK(is_success(status));
  }
}
