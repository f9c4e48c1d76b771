#include "graphmount/loading/rows/read_threads.hpp"

#include <algorithm>
#include <utility>

namespace graphmount {

ReadThreads::ReadThreads(std::size_t count) {
  try {
    while (threads_.size() < std::max<std::size_t>(count, 1))
      threads_.emplace_back([this] { serve(); });
  } catch (...) {
    end();
    throw;
  }
}

ReadThreads::~ReadThreads() {
  end();
}

void ReadThreads::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  added_.notify_all();
  for (Thread& thread : threads_) thread.join();
}

void ReadThreads::add(TableReads& reads) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&reads);
  }
  added_.notify_one();
}

void ReadThreads::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    TableReads* reads = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    reads->read();
    lock.lock();
  }
}

TableReads::~TableReads() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return !is_busy_; });
}

void TableReads::start(std::span<const RowRead> reads) {
  if (reads.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    reads_ = reads;
    is_busy_ = true;
  }
  try {
    threads_->add(*this);
  } catch (...) {  // without memory for it, nobody reads
    const std::lock_guard lock(mutex_);
    is_busy_ = false;
    throw;
  }
}

void TableReads::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return !is_busy_; });
  if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void TableReads::read() noexcept {
  std::exception_ptr failure;
  try {
    reader_->read(reads_);
  } catch (...) {
    failure = std::current_exception();
  }
  // The owner may end it as soon as it is done, so it is told while the lock is held.
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);  // only its owner lets go of it
  is_busy_ = false;
  done_.notify_all();
}

}  // namespace graphmount
