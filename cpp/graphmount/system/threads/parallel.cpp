#include "graphmount/system/threads/parallel.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graphmount/base/interrupt.hpp"
#ifdef __linux__
#include <sched.h>
#endif

#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/thread.hpp"

namespace graphmount {
namespace {

using Clock = std::chrono::steady_clock;
using RangeBody = std::function<void(std::size_t, std::size_t)>;

// How long a thread with nothing to do looks out for more before it sleeps. Calls come one right
// after the other, and to wake a thread takes about as long as the work of one: with this, samples
// take a fifth less time on two cores, and less processor time.
constexpr auto kLookout = std::chrono::microseconds(100);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int num_processors() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Returns when `is_there` says so, or the time is over.
template <class IsThere>
void look_out(Clock::time_point end, const IsThere& is_there) {
  while (!is_there() && Clock::now() < end)
    for (int i = 0; i < 8; ++i) relax();
}

// One call of parallel_for. Threads take ranges off `next` until none is left.
struct Job {
  Job(const RangeBody& job_body, std::size_t job_count, std::size_t job_grain)
      : body(job_body), count(job_count), grain(job_grain) {}

  const RangeBody& body;
  std::size_t count;
  std::size_t grain;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable left;
  // Pool threads at work on this job. Changes under the mutex. Away from what they work on, since
  // it is looked at all the time.
  alignas(64) std::atomic<int> helpers = 0;
  std::exception_ptr failure;  // the first one
  std::atomic<bool> has_failed = false;

  void run() {
    const AbandonScope scope(has_failed);
    try {
      for (;;) {
        // Before a range is taken: one that has been taken is begun, since others may wait for it.
        check_interrupt();
        const std::size_t begin = next.fetch_add(grain);
        if (begin >= count) return;
        body(begin, begin + std::min(grain, count - begin));
      }
    } catch (...) {
      fail();
    }
  }

  /// Called while an exception is handled: no range is begun any more.
  void fail() {
    next = count;
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
    has_failed = true;
  }

  /// Returns when all helpers have left. The caller goes on asking whether it is to end.
  void wait_for_helpers() {
    std::unique_lock lock(mutex);
    while (!left.wait_for(lock, InterruptScope::kInterval, [&] { return helpers == 0; })) {
      if (has_failed) continue;
      lock.unlock();
      try {
        check_interrupt();
      } catch (...) {
        fail();
      }
      lock.lock();
    }
  }
};

thread_local bool t_inside = false;

class Pool {
 public:
  /// Of the threads of a pool that looks out, none sleeps at once when it has nothing to do.
  explicit Pool(bool looks_out) : most_lookouts_(looks_out ? num_processors() - 1 : 0) {}

  void start(int helpers_wanted) {
    const std::lock_guard lock(mutex_);
    start_threads(helpers_wanted);
  }

  void run(const std::shared_ptr<Job>& job, int helpers_wanted) {
    {
      const std::lock_guard lock(mutex_);
      start_threads(helpers_wanted);
      try {
        const int num_threads = static_cast<int>(threads_.size());
        for (int i = 0; i < std::min(helpers_wanted, num_threads); ++i) queue_.push_back(job);
      } catch (const std::bad_alloc&) {
        // The threads that were asked before, or the caller alone, get the work done too.
      }
      has_work_ = !queue_.empty();
    }
    wake_.notify_all();
    t_inside = true;
    job->run();
    t_inside = false;
    {
      // Requests that no thread has taken are not needed any more.
      const std::lock_guard lock(mutex_);
      std::erase(queue_, job);
      has_work_ = !queue_.empty();
    }
    if (may_look_out_) look_out(Clock::now() + kLookout, [&] { return job->helpers == 0; });
    job->wait_for_helpers();
  }

 private:
  void start_threads(int wanted) {
    try {
      while (static_cast<int>(threads_.size()) < wanted) {
        threads_.emplace_back();  // first, so that a thread that runs has a place
        try {
          threads_.back() = Thread([this] { serve(); });
        } catch (...) {
          threads_.pop_back();
          throw;
        }
      }
    } catch (const ThreadError&) {
      // The system has no more threads for us. Fewer, or the caller alone, get the work done too.
    } catch (const std::bad_alloc&) {
    }
    // With more threads than processors, spinning threads would take time from working ones.
    may_look_out_ = static_cast<int>(threads_.size()) <= most_lookouts_;
  }

  void serve() {
    t_inside = true;
    for (Clock::time_point lookout_end;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        while (queue_.empty()) {
          if (may_look_out_ && Clock::now() < lookout_end) {
            lock.unlock();
            look_out(lookout_end, [&] { return has_work_.load(); });
            lock.lock();
          } else {
            wake_.wait(lock, [&] { return !queue_.empty(); });
          }
        }
        job = std::move(queue_.front());
        queue_.pop_front();
        has_work_ = !queue_.empty();
        // Under the pool's mutex, so that the caller cannot miss a helper that is about to start.
        const std::lock_guard job_lock(job->mutex);
        ++job->helpers;
      }
      job->run();
      {
        const std::lock_guard lock(job->mutex);
        if (--job->helpers == 0) job->left.notify_all();
      }
      lookout_end = Clock::now() + kLookout;
    }
  }

  const int most_lookouts_;
  std::atomic<bool> may_look_out_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::vector<Thread> threads_;
  alignas(64) std::atomic<bool> has_work_ = false;  // the queue; changes under the mutex
};

// Never destroyed: its threads wait for ever, at exit as well. After fork the child has none of the
// threads, so it forgets the pools and makes new ones when it needs them.
std::atomic<Pool*> g_computing_pool = nullptr;
std::atomic<Pool*> g_waiting_pool = nullptr;

Pool& get_pool(std::atomic<Pool*>& pool) {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] {
    g_computing_pool = nullptr;
    g_waiting_pool = nullptr;
  });
  Pool* current = pool;
  if (current != nullptr) return *current;
  auto* fresh = new Pool(&pool == &g_computing_pool);
  if (pool.compare_exchange_strong(current, fresh)) return *fresh;
  delete fresh;  // another thread was first; this one has started no threads
  return *current;
}

int default_num_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int count = std::atoi(text);  // "4,2" gives the outer level, as OpenMP means it
    if (count >= 1) return count;
  }
  return num_processors();
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count = default_num_threads();
  return count;
}

}  // namespace

int num_threads() {
  return thread_count();
}

void set_num_threads(int count) {
  if (count < 1)
    throw std::invalid_argument(say("the number of threads must be at least 1, not ", count));
  thread_count() = count;
}

namespace {

void run(std::atomic<Pool*>& pool, std::size_t count, std::size_t grain, std::size_t most_threads,
         const RangeBody& body) {
  if (count == 0) return;
  grain = std::clamp<std::size_t>(grain, 1, count);
  const std::size_t ranges = (count - 1) / grain + 1;
  const int threads = static_cast<int>(std::min(ranges, std::max<std::size_t>(most_threads, 1)));
  if (threads == 1 || t_inside) {
    for (std::size_t begin = 0; begin < count; begin += grain) {
      check_interrupt();
      body(begin, begin + std::min(grain, count - begin));
    }
    return;
  }
  const auto job = std::make_shared<Job>(body, count, grain);
  get_pool(pool).run(job, threads - 1);
  // Moved out of the job, because a helper may be the last to release it: an exception belongs to
  // the thread that handles it.
  if (const auto failure = std::exchange(job->failure, nullptr)) std::rethrow_exception(failure);
}

}  // namespace

void start_threads() {
  if (num_threads() > 1) get_pool(g_computing_pool).start(num_threads() - 1);
}

void parallel_for(std::size_t count, std::size_t grain, const RangeBody& body) {
  run(g_computing_pool, count, grain, static_cast<std::size_t>(num_threads()), body);
}

void overlapped_for(std::size_t count, unsigned threads,
                    const std::function<void(std::size_t)>& body) {
  run(g_waiting_pool, count, 1, threads, [&](std::size_t i, std::size_t) { body(i); });
}

}  // namespace graphmount
