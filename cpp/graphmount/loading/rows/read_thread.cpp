#include "graphmount/loading/rows/read_thread.hpp"

#include <utility>

namespace graphmount {

ReadThread::ReadThread(std::unique_ptr<RowReader> reader)
    : reader_(std::move(reader)), thread_([this] { serve(); }) {}

ReadThread::~ReadThread() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadThread::start(std::span<const RowRead> reads) {
  if (reads.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    reads_ = reads;
    is_busy_ = true;
  }
  changed_.notify_all();
}

void ReadThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_busy_; });
  if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void ReadThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_busy_ || is_ending_; });
    if (!is_busy_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      reader_->read(reads_);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    is_busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace graphmount
