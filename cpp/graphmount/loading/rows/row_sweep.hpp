// Reads the rows of many batches by sweeping over a file again and again. This is for batches that
// together need rows in most parts of it.
//
// Threads go through the file in chunks. A chunk is read once for all batches that are in the sweep
// at that moment, in few and long requests, and each batch keeps its rows. A batch may come in at
// any chunk, and is complete when the sweep is back there. Batches are complete in the order they
// came in.
//
// Rows that have been read and not yet released take no more than the given room, except for the
// chunks under way. A batch takes memory only as its rows come, so batches that joined later take
// less, and nearly twice as many batches share a read as would fit when complete. The sweep pauses
// while the oldest batch has nothing left to read and there is no room. The memory is used again
// and again, because the system would have to clear new memory, which takes longer than reading
// into it. The threads belong to their process: see process_bound.hpp.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/thread.hpp"
#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {

/// What a batch has got of a sweep.
struct SweptRows {
  std::span<std::byte* const> segments;
  std::size_t rows_per_segment = 1, row_bytes = 0;
  std::uint64_t read_rows = 0;    // that were read for it
  std::uint64_t shared_rows = 0;  // that were read for another batch at the same time

  /// The row at this place among the batch's rows.
  const std::byte* row(std::size_t place) const {
    return segments[place / rows_per_segment] + place % rows_per_segment * row_bytes;
  }
};

class RowSweep {
 public:
  static constexpr std::size_t kSegmentBytes = 1 << 20;

  /// A thread for each reader. For rows [0, num_rows), so many in a chunk; batches get memory in
  /// segments. Throws ThreadError.
  RowSweep(std::vector<std::unique_ptr<RowReader>> readers, std::uint64_t num_rows,
           std::size_t row_bytes, std::size_t chunk_rows,
           std::size_t segment_bytes = kSegmentBytes);
  ~RowSweep();
  RowSweep(const RowSweep&) = delete;
  RowSweep& operator=(const RowSweep&) = delete;

  /// How many bytes rows of batches may take. `has_spare` if the rows of the oldest batch need not
  /// be counted when it is complete, so that the sweep goes on until it is released.
  void set_room(std::size_t bytes, bool has_spare);
  /// Has a batch come in as soon as there is room for it; there always is for the first. Its rows
  /// are sorted, each once, and stay where they are until `release`.
  void admit(std::span<const std::uint64_t> rows);
  /// Waits until the oldest batch is complete. Throws what reading threw, then and ever after,
  /// until `clear`.
  SweptRows wait();
  /// Releases the oldest batch, which is complete.
  void release();
  /// Has `wait` throw std::runtime_error until `clear`, so that the owner's thread can end early.
  /// For any thread.
  void cancel() noexcept;
  /// Gives up all batches, and forgets what went wrong.
  void clear() noexcept;

  /// Batches in the sweep or waiting for it, and the bytes of their rows that have been read.
  std::size_t num_batches() const { return batches_.size(); }
  std::size_t batch_bytes() const;

  /// What readers have asked for so far, without the chunks under way.
  ReadStats stats() const;
  /// Memory of readers and bookkeeping, without the rows of batches.
  std::size_t bytes() const;
  /// What the bookkeeping needs with chunks of this size.
  static std::size_t bookkeeping_bytes(std::size_t num_readers, std::size_t chunk_rows) {
    return num_readers * chunk_rows * (sizeof(std::byte*) + sizeof(RowRead));
  }

 private:
  struct Batch {
    std::span<const std::uint64_t> rows;
    std::vector<std::byte*> segments;  // null until rows come
    std::uint64_t first_chunk = 0;
    std::uint64_t chunks_to_come = 0, chunks_under_way = 0;
    std::size_t filled_bytes = 0;
    std::uint64_t read_rows = 0, shared_rows = 0;
    bool has_failed = false;

    bool is_complete() const { return chunks_to_come == 0 && chunks_under_way == 0 && !has_failed; }
  };

  /// The rows of one batch in a chunk: [first, end) of its rows.
  struct Part {
    Batch* batch;
    std::size_t first, end;
    std::uint64_t num_read;
  };

  /// A thread, and what it works with.
  struct Worker {
    std::unique_ptr<RowReader> reader;
    std::vector<std::byte*> targets;  // of the rows of a chunk; null if nobody wants them
    std::vector<RowRead> reads;
    std::uint64_t chunk = 0;
    std::vector<Part> parts;
    ReadStats stats;        // when it was done last,
    std::size_t bytes = 0;  // and what it held then
    Thread thread;
  };

  void end_threads() noexcept;
  void serve(Worker& worker);
  bool has_work() const;
  void claim(Worker& worker);
  void give_segments(Part& part);
  void take_segments(Batch& batch);
  std::byte* row_of(const Batch& batch, std::size_t place) const {
    return batch.segments[place / segment_rows_] + place % segment_rows_ * row_bytes_;
  }
  bool can_begin() const;
  bool has_room_for_next() const;
  std::size_t rows_before(const Batch& batch, std::uint64_t chunk) const;
  std::size_t rows_without(const Batch& batch, std::uint64_t first_chunk,
                           std::uint64_t num_left) const;
  void read_chunk(Worker& worker) const;

  std::uint64_t num_rows_;
  std::size_t row_bytes_, chunk_rows_, segment_rows_;
  std::uint64_t num_chunks_;

  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  std::uint64_t position_ = 0;                  // the next chunk
  std::deque<std::unique_ptr<Batch>> batches_;  // only the owner's thread changes which there are
  std::size_t num_begun_ = 0;                   // of the batches; the others wait for room
  std::size_t room_ = SIZE_MAX / 2, filled_bytes_ = 0;
  bool has_spare_ = false;
  std::vector<Buffer<std::byte, PageSize::kSmall>> segments_;
  std::vector<std::byte*> free_segments_;
  std::exception_ptr failure_;
  bool is_cancelled_ = false, is_ending_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;  // the last: their threads use the others
};

}  // namespace graphmount
