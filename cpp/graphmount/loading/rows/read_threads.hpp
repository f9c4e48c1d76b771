// Threads that read rows while their owners do something else. The tables of a loader share them:
// a table that has nothing to read takes none.
//
// Each `TableReads` has one read under way at a time. Reads begin in the order in which they are
// asked for. Threads belong to their process: see process_bound.hpp.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "graphmount/system/threads/thread.hpp"
#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {

class TableReads;

class ReadThreads {
 public:
  /// At least one. Throws ThreadError.
  explicit ReadThreads(std::size_t count);
  /// When nothing is under way: those who read hold it.
  ~ReadThreads();
  ReadThreads(const ReadThreads&) = delete;
  ReadThreads& operator=(const ReadThreads&) = delete;

 private:
  friend class TableReads;

  void add(TableReads& reads);
  void serve();
  void end() noexcept;

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<TableReads*> waiting_;
  bool is_ending_ = false;
  std::vector<Thread> threads_;  // the last: they use the others
};

class TableReads {
 public:
  TableReads(std::unique_ptr<RowReader> reader, std::shared_ptr<ReadThreads> threads)
      : reader_(std::move(reader)), threads_(std::move(threads)) {}
  /// Waits for a read that is under way.
  ~TableReads();
  TableReads(const TableReads&) = delete;
  TableReads& operator=(const TableReads&) = delete;

  /// Begins to read. The reads, sorted by row, must stay where they are until `wait` returns.
  void start(std::span<const RowRead> reads);

  /// Returns when the last `start` is done, or throws what it threw.
  void wait();

  /// Not while a read is under way.
  const ReadStats& stats() const { return reader_->stats(); }
  std::size_t bytes() const { return reader_->bytes(); }

 private:
  friend class ReadThreads;

  void read() noexcept;

  std::unique_ptr<RowReader> reader_;
  std::shared_ptr<ReadThreads> threads_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::span<const RowRead> reads_;
  std::exception_ptr failure_;
  bool is_busy_ = false;
};

}  // namespace graphmount
