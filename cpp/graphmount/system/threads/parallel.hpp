// parallel_for, and overlapped_for for work that waits: how a call of the core uses more than one
// thread.
//
// A pool of threads of our own rather than OpenMP: it survives fork (the child starts a fresh
// pool), does not quarrel with torch's OpenMP runtime, and builds the same everywhere. The number
// of threads is OMP_NUM_THREADS, else what the machine allows this process, until
// `set_num_threads`.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

namespace graphmount {

int num_threads();
/// Throws std::invalid_argument unless count is at least 1.
void set_num_threads(int count);

/// Starts the threads that `parallel_for` will need, for callers that have something else to do
/// first: Linux may leave a new thread for some milliseconds on the processor of the thread that
/// made it.
void start_threads();

/// Calls body(begin, end) for disjoint ranges of at most `grain` that together cover [0, count), on
/// the calling thread and the pool. Returns when all have run. The first exception of a body stops
/// the handing out of ranges and is thrown here. Calls made inside a body run on its own thread.
/// Between ranges it looks whether the call is to end (`check_interrupt`).
void parallel_for(std::size_t count, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body);

/// The same with body(i) for each i of the ranges.
template <class Body>
void parallel_each(std::size_t count, std::size_t grain, const Body& body) {
  parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

/// Calls body(i) for each i below `count`, for work that waits for the disk: on up to `threads`
/// threads, however few cores there are, from a pool of their own, so that work which computes is
/// not held up.
void overlapped_for(std::size_t count, unsigned threads,
                    const std::function<void(std::size_t)>& body);

/// Makes `least` no more than `number`: for parts of parallel work that look for the first of
/// something, which is then the same for any number of threads.
inline void lower_to(std::atomic<std::size_t>& least, std::size_t number) {
  std::size_t known = least.load(std::memory_order_relaxed);
  while (number < known && !least.compare_exchange_weak(known, number, std::memory_order_relaxed)) {
  }
}

/// A grain that gives every thread several ranges to take, but none smaller than `least`, of which
/// a range is worth the handing out; nor so large that a call which is to end goes on for long.
inline std::size_t balanced_grain(std::size_t count, std::size_t least) {
  constexpr std::size_t kMostLeasts = 64;
  return std::clamp(count / (8 * static_cast<std::size_t>(num_threads())) + 1, least,
                    kMostLeasts * least);
}

}  // namespace graphmount
