#include "graphmount/system/threads/thread.hpp"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>
#include <semaphore>
#include <system_error>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/fork_safe_mutex.hpp"

namespace graphmount {
namespace {

// Enough for the thread-local variables of a thread, and so large that it goes back to the system.
constexpr std::size_t kReserve = std::size_t{1} << 18;

thread_local bool t_has_started = false;

/// A library that is loaded at run time, as extensions of Python are, has its thread-local
/// variables allocated when a thread first touches one of them, and the C library ends the process
/// if there is no memory for them. So a thread touches ours and the C++ library's first of all, out
/// of a reserve that was there when it was started.
void touch_thread_locals() {
  *const_cast<volatile bool*>(&t_has_started) = true;
  static_cast<void>(std::uncaught_exceptions());
}

std::thread make_thread(std::function<void()> body) {
  const auto lock = hold_off_forks();
  return std::thread(std::move(body));
}

std::thread start(std::function<void()> body) {
  void* const reserve = std::malloc(kReserve);
  if (reserve == nullptr) throw ThreadError(ENOMEM);
  std::binary_semaphore reserve_is_free(0), has_begun(0);
  try {
    std::thread thread = make_thread([body = std::move(body), &reserve_is_free, &has_begun]() {
      reserve_is_free.acquire();
      touch_thread_locals();
      has_begun.release();
      body();
    });
    std::free(reserve);
    reserve_is_free.release();
    has_begun.acquire();
    return thread;
  } catch (const std::system_error& error) {
    std::free(reserve);
    throw ThreadError(error.code().value());
  } catch (const std::bad_alloc&) {
    std::free(reserve);
    throw ThreadError(ENOMEM);
  }
}

}  // namespace

std::unique_lock<std::mutex> hold_off_forks() {
  return std::unique_lock(fork_safe_mutex<Thread>());
}

Thread::Thread(std::function<void()> body) : thread_(start(std::move(body))) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  join();
  thread_ = std::move(other.thread_);
  return *this;
}

Thread::~Thread() {
  join();
}

void Thread::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace graphmount
