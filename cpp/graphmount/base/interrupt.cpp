#include "graphmount/base/interrupt.hpp"

#include <utility>

namespace graphmount {
namespace {

thread_local const InterruptScope* t_scope = nullptr;
thread_local const std::atomic<bool>* t_is_abandoned = nullptr;

}  // namespace

InterruptScope::InterruptScope(const std::function<void()>& ask, Clock::duration interval)
    : outer_(std::exchange(t_scope, this)),
      ask_(ask),
      interval_(interval),
      next_(Clock::now() + interval) {}

InterruptScope::~InterruptScope() {
  t_scope = outer_;
}

AbandonScope::AbandonScope(const std::atomic<bool>& is_abandoned)
    : outer_(std::exchange(t_is_abandoned, &is_abandoned)) {}

AbandonScope::~AbandonScope() {
  t_is_abandoned = outer_;
}

void check_interrupt() {
  if (t_is_abandoned != nullptr && t_is_abandoned->load(std::memory_order_relaxed))
    throw Abandoned();
  if (t_scope == nullptr) return;
  const auto now = InterruptScope::Clock::now();
  if (now < t_scope->next_) return;
  t_scope->ask_();
  // Asking may take a while, if it has to wait for its turn: the next time counts from its end.
  t_scope->next_ = InterruptScope::Clock::now() + t_scope->interval_;
}

}  // namespace graphmount
