// A mutex that a child of fork finds unlocked, whatever the parent's other threads were doing.
//
// A plain mutex that another thread holds at the moment of the fork stays locked in the child for
// ever. This one is taken by whoever forks, so nobody else can hold it then. There is one for each
// Tag, for bookkeeping that takes no time.
#pragma once

#include <mutex>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace graphmount {

template <class Tag>
std::mutex& fork_safe_mutex() {
  static std::mutex mutex;
#ifndef _WIN32
  [[maybe_unused]] static const int registered =
      pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
#endif
  return mutex;
}

}  // namespace graphmount
