// A mutex that a child of fork finds unlocked, whatever the parent's other threads were doing.
//
// A plain mutex that another thread holds at the moment of the fork stays locked in the child for
// ever. This one is locked by the forking thread itself, so no other thread can hold it then, and
// the data that it guards is whole in the child. There is one for each Tag, for what takes next to
// no time: a fork waits for it. A thread must not lock a second one while it holds one.
#pragma once

#include <pthread.h>

#include <mutex>

namespace graphmount {

namespace detail {

template <class Tag>
struct ForkSafeMutex {
  static inline constinit std::mutex mutex;
  // When the library is loaded, not when a thread first asks: a child that was forked in the
  // middle of that would wait for its end for ever.
  static inline const int registered =
      pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
};

}  // namespace detail

template <class Tag>
std::mutex& fork_safe_mutex() {
  static_cast<void>(&detail::ForkSafeMutex<Tag>::registered);  // or it would not be there
  return detail::ForkSafeMutex<Tag>::mutex;
}

}  // namespace graphmount
