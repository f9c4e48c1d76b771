// A sum to which the parts of parallel work add in their order, so that each part knows the sum
// before it. A part waits for the parts before it, so these must have been started earlier, as
// `parallel_for` does.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

namespace graphmount {

class RunningTotal {
 public:
  /// Adds what part number `part` has, when all parts before have added theirs. Returns the sum
  /// before; nothing if a part before has failed.
  std::optional<std::size_t> add(std::size_t part, std::size_t count) {
    std::unique_lock lock(mutex_);
    has_changed_.wait(lock, [&] { return next_ == part || has_failed_; });
    if (has_failed_) return std::nullopt;
    ++next_;
    has_changed_.notify_all();
    return std::exchange(total_, total_ + count);
  }

  /// A part has nothing to add, and those behind it need not wait.
  void fail() {
    const std::lock_guard lock(mutex_);
    has_failed_ = true;
    has_changed_.notify_all();
  }

  std::size_t total() const { return total_; }  // when all is done

 private:
  std::mutex mutex_;
  std::condition_variable has_changed_;
  std::size_t next_ = 0;
  bool has_failed_ = false;
  std::size_t total_ = 0;
};

}  // namespace graphmount
