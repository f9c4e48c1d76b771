// A thread that reads rows while its owner does something else: one read under way at a time. It
// belongs to its process: see process_bound.hpp.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <span>

#include "graphmount/system/threads/thread.hpp"
#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {

class ReadThread {
 public:
  /// Throws ThreadError.
  explicit ReadThread(std::unique_ptr<RowReader> reader);
  /// Waits for a read that is under way.
  ~ReadThread();

  /// Begins to read. The reads, sorted by row, must stay where they are until `wait` returns.
  void start(std::span<const RowRead> reads);

  /// Returns when the last `start` is done, or throws what it threw.
  void wait();

  /// Not while a read is under way.
  const ReadStats& stats() const { return reader_->stats(); }
  std::size_t bytes() const { return reader_->bytes(); }

 private:
  void serve();

  std::unique_ptr<RowReader> reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::span<const RowRead> reads_;
  std::exception_ptr failure_;
  bool is_busy_ = false, is_ending_ = false;
  Thread thread_;  // the last: it uses the others
};

}  // namespace graphmount
