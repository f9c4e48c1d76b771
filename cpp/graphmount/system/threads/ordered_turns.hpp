// Parts of parallel work that do something one after the other, in their order, and the rest at the
// same time. A part waits for those before it, so they must have been begun earlier, as
// `parallel_for` begins them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace graphmount {

class Turns {
 public:
  /// Whether `wait` would return at once.
  bool need_not_wait(std::size_t part) const { return next_ == part || are_over_; }

  /// Returns when it is the turn of part number `part`, which must then end it; false if there are
  /// no more turns.
  bool wait(std::size_t part) {
    if (!need_not_wait(part)) {
      std::unique_lock lock(mutex_);
      ++num_waiting_;
      has_changed_.wait(lock, [&] { return need_not_wait(part); });
      --num_waiting_;
    }
    return !are_over_;
  }

  /// Lets the next part have its turn.
  void end() {
    ++next_;
    wake();
  }

  /// Nobody has a turn any more. May be called by any part, also while another has its turn.
  void stop() {
    are_over_ = true;
    wake();
  }

  bool are_over() const { return are_over_; }

 private:
  // Who waits is counted before it looks, and looked for after the change: one of both is seen.
  void wake() {
    if (num_waiting_ == 0) return;
    const std::lock_guard lock(mutex_);
    has_changed_.notify_all();
  }

  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> are_over_ = false;
  std::atomic<int> num_waiting_ = 0;  // changes under the mutex
  std::mutex mutex_;
  std::condition_variable has_changed_;
};

}  // namespace graphmount
