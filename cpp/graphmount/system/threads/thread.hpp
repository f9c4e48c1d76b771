// A thread that its owner waits for: the only way the core starts one.
//
// A limit on threads (ulimit -u, a container's pids limit) or on memory becomes a ThreadError that
// says what to do. Whoever starts several threads has to end those that run when one more cannot be
// started. A thread belongs to its process: in a child of fork there is none, and what owns it is
// neither used nor destroyed there (see process_bound.hpp).
#pragma once

#include <functional>
#include <mutex>
#include <thread>

namespace graphmount {

class Thread {
 public:
  Thread() = default;
  /// Runs `body`, which must not throw. Throws ThreadError if the system gives no more threads.
  explicit Thread(std::function<void()> body);
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  /// Waits for the end of the body: the owner must have told it to end.
  ~Thread();

  /// Returns when the body has; at once if there is no thread, or it was joined.
  void join();

  bool is_joinable() const { return thread_.joinable(); }

 private:
  std::thread thread_;
};

/// Held while a thread is made, also by way of another library: no process is forked meanwhile.
///
/// The C library makes threads of what earlier ones have left, and frees their thread-local
/// variables first. A child of fork takes all threads of its parent for earlier ones. If one was
/// being made, the same memory is freed again in the child, where it may be somebody else's by
/// then. (Python makes threads, and forks, while it holds the GIL.)
std::unique_lock<std::mutex> hold_off_forks();

}  // namespace graphmount
