// Where a feed gets the rows that are not kept permanently. This is one interface for two ways:
// slots for rows that come and go (row_window.hpp decides which), and a sweep over the file for
// many batches at once (row_sweep.hpp).
//
// Batches are announced in their order, and each goes through `arrive`, `start`, `copy`, `wait` and
// `finish`. The next one may arrive and start before `wait`, so two are under way at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graphmount/loading/rows/cold_rows.hpp"
#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {

/// Where the rows of all batches so far came from, and how long that took.
struct FeedStats {
  std::uint64_t rows = 0;             // wanted
  std::uint64_t hot_rows = 0;         // that were in the cache for good
  std::uint64_t window_rows = 0;      // that were in a slot
  std::uint64_t read_rows = 0;        // that were read from the file, each once for a batch
  std::uint64_t read_along_rows = 0;  // read with them, because a later batch wants them
  double copy_seconds = 0;
  double wait_seconds = 0;  // for reads, when all else was done
  ReadStats reads;
  std::size_t bytes = 0;         // of memory for rows, bookkeeping and reads
  std::size_t shared_bytes = 0;  // of hot rows that processes share; `bytes` has a part of it
  bool is_swept = false;
};

/// The rows that a batch needs from the cache, and where the rows of the batch are put together.
struct RowFill {
  const ColdRows* cold = nullptr;
  std::byte* rows = nullptr;  // as stored
  std::size_t row_bytes = 0;
  /// Whether each of the cold rows goes there once, in their order, and nothing else; or else to
  /// its places among all rows of the batch.
  bool is_compact = false;

  std::byte* row_at(std::size_t place) const { return rows + place * row_bytes; }
  /// Where the row at this place among the cold rows goes first.
  std::byte* first_of(std::size_t index) const {
    return row_at(is_compact ? index : cold->first_place(index));
  }
  /// Calls visit(row) for all that the row at this place among the cold rows goes to.
  template <class Visit>
  void for_rows(std::size_t index, const Visit& visit) const {
    if (is_compact)
      visit(row_at(index));
    else
      cold->for_places(index, [&](std::uint32_t place) { visit(row_at(place)); });
  }
};

/// Not thread-safe, but for `cancel`. After an exception, `abandon` has to follow.
class RowCache {
 public:
  virtual ~RowCache() = default;

  /// Announces the rows of the next batch. False if that has to wait until another batch is
  /// finished, which is never so for the first. `rows` are sorted, each once, and stay until
  /// `finish`.
  virtual bool announce(std::span<const std::uint64_t> rows) = 0;
  /// How many bytes rows may take that are read before `start`: see RowSweep.
  virtual void set_room(std::size_t /*bytes*/, bool /*has_spare*/) {}
  /// Waits for what is read before `start`.
  virtual void arrive() {}
  /// Begins to read for the next batch that was announced. `fill` stays until `finish`.
  virtual void start(const RowFill& /*fill*/) {}
  /// Copies to the batch that was started last what it needs of what is in memory.
  virtual void copy() = 0;
  /// Waits until all rows of the batch that was started first have been read.
  virtual void wait() {}
  /// Completes that batch, and counts where its rows came from.
  virtual void finish(FeedStats& stats) = 0;
  /// Has `arrive` throw until `abandon`. For any thread.
  virtual void cancel() noexcept {}
  /// Gives up all batches. Without memory for that it throws std::bad_alloc, and has to be called
  /// again.
  virtual void abandon() = 0;

  /// Memory for rows, bookkeeping and reads, as of the last `finish`.
  virtual std::size_t bytes() const = 0;
};

/// Which cache, and how large.
struct CacheShape {
  std::uint64_t num_rows = 0;  // of the table
  std::size_t row_bytes = 0;
  std::size_t chunk_rows = 0;  // of a sweep; 0 for slots
  std::size_t num_slots = 0;
  std::size_t num_known = 0;  // rows that the bookkeeping of slots has room for
};

class ReadThreads;

/// One reader for each of two batches, or of the threads of a sweep; none if no batch wants a row.
/// Batches are read by `threads`, or by as many of their own if that is null; a sweep always has
/// threads of its own, which are never done. Throws ThreadError.
std::unique_ptr<RowCache> make_row_cache(std::vector<std::unique_ptr<RowReader>> readers,
                                         const CacheShape& shape,
                                         std::shared_ptr<ReadThreads> threads = nullptr);

}  // namespace graphmount
