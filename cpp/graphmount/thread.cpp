#include "graphmount/thread.hpp"

#include <system_error>
#include <utility>

#include "graphmount/error.hpp"

namespace graphmount {
namespace {

std::thread start(std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw ThreadError(error.code().value());
  }
}

}  // namespace

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
