// Long calls that can be ended from outside, as by Ctrl-C.
//
// The caller says with an `InterruptScope` what may end a call. Long work calls `check_interrupt`
// now and then: `parallel_for` does so between its ranges, in every thread that works for the call,
// and so do loops whose rounds may take longer than a tenth of a second. The question itself is
// asked only in the thread of the caller, and not more often than the scope says, so that a check
// costs a few nanoseconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>

namespace graphmount {

/// While it lives, `check_interrupt` in this thread calls `ask`, and throws what that throws. An
/// inner scope takes the place of the outer one.
class InterruptScope {
 public:
  using Clock = std::chrono::steady_clock;
  /// Calls that take less are not asked about at all.
  static constexpr std::chrono::milliseconds kInterval{50};

  /// `ask` outlives the scope.
  explicit InterruptScope(const std::function<void()>& ask, Clock::duration interval = kInterval);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const InterruptScope* const outer_;
  const std::function<void()>& ask_;
  const Clock::duration interval_;
  mutable Clock::time_point next_;
  friend void check_interrupt();
};

/// Ends the work of a thread that is not needed any more, because another part has failed. It is
/// caught there: the caller gets the failure itself.
struct Abandoned : std::runtime_error {
  Abandoned() : std::runtime_error("another part of this work has failed") {}
};

/// While it lives, `check_interrupt` in this thread throws `Abandoned` once `is_abandoned`.
class AbandonScope {
 public:
  explicit AbandonScope(const std::atomic<bool>& is_abandoned);
  ~AbandonScope();
  AbandonScope(const AbandonScope&) = delete;
  AbandonScope& operator=(const AbandonScope&) = delete;

 private:
  const std::atomic<bool>* const outer_;
};

/// Throws if this work is to end. May be called as often as every microsecond, and where an
/// exception does no harm: not while something is half changed that outlives the call.
void check_interrupt();

/// Calls body(i) for each i below `count`, in order, on this thread, and looks now and then whether
/// the work is to end.
template <class Body>
void interruptible_for(std::size_t count, const Body& body) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    check_interrupt();
    for (std::size_t i = begin; i < std::min(begin + kAtOnce, count); ++i) body(i);
  }
}

}  // namespace graphmount
