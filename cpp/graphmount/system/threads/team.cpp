#include "graphmount/system/threads/team.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "graphmount/system/threads/own_process.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/thread.hpp"

namespace graphmount {
namespace {

// What GCC's OpenMP is called by, and LLVM's and Intel's know as well.
using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
using MaxThreads = int (*)();

struct OpenMp {
  Parallel parallel = nullptr;
  MaxThreads max_threads = nullptr;
};

/// Looked for until it is there: torch may be imported later than we are.
OpenMp find_openmp() {
  static std::atomic<Parallel> parallel = nullptr;
  static std::atomic<MaxThreads> max_threads = nullptr;
  if (parallel.load() == nullptr) {
    max_threads = reinterpret_cast<MaxThreads>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    if (max_threads.load() != nullptr)
      parallel = reinterpret_cast<Parallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  }
  return {parallel, max_threads};
}

// Who loaded us. In a forked child OpenMP waits for threads that only its parent has.
const OwnProcess g_loader;

/// Has OpenMP call work() in so many threads, the caller among them. No fork comes while it makes
/// them: they are all there when it calls the caller's.
template <class WorkType>
void run_in_team(const OpenMp& openmp, unsigned threads, WorkType work) {
  struct Team {
    std::unique_lock<std::mutex> making;
    std::thread::id caller;
    WorkType work;
  } team{hold_off_forks(), std::this_thread::get_id(), std::move(work)};
  const auto join = [](void* data) {
    Team& joined = *static_cast<Team*>(data);
    if (std::this_thread::get_id() == joined.caller) joined.making.unlock();
    joined.work();
  };
  openmp.parallel(join, &team, threads, 0);
}

// One call of team_for: threads take ranges off `next` until none is left.
struct Work {
  const std::function<void(std::size_t, std::size_t)>& body;
  std::size_t count, grain;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;  // the first one: none may pass through the runtime

  void run() {
    try {
      for (;;) {
        const std::size_t begin = next.fetch_add(grain);
        if (begin >= count) return;
        body(begin, begin + std::min(grain, count - begin));
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  }
};

}  // namespace

void team_for(std::size_t count, std::size_t grain,
              const std::function<void(std::size_t, std::size_t)>& body) {
  const OpenMp openmp = find_openmp();
  if (openmp.parallel == nullptr || !g_loader.is_here()) return parallel_for(count, grain, body);
  if (count == 0) return;
  grain = std::clamp<std::size_t>(grain, 1, count);
  const std::size_t ranges = (count - 1) / grain + 1;
  const auto threads = static_cast<std::size_t>(std::max(1, openmp.max_threads()));
  if (ranges == 1 || threads == 1) return body(0, count);
  Work work{body, count, grain, {}, {}, {}};
  run_in_team(openmp, static_cast<unsigned>(std::min(ranges, threads)), [&] { work.run(); });
  if (work.failure) std::rethrow_exception(work.failure);
}

void work_beside_team() noexcept {
  const OpenMp openmp = find_openmp();
  if (openmp.parallel == nullptr || !g_loader.is_here()) return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  try {
    Thread([] {});  // OpenMP ends the process when it gets no thread
  } catch (...) {
    return;
  }
  run_in_team(openmp, 2, [] {});
}

}  // namespace graphmount
