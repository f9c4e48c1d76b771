// The rows of one table for one batch after the other, within a memory budget, and converted to the
// dtype that is wanted.
//
// Part of the budget holds the hottest rows for good; the rest is slots for rows that come and go,
// which the window decides on, since it knows what the next batches want. What is in neither is
// read from the file, many rows at a time and in its order, while hot rows are copied. The reads of
// a batch begin before those of the batch before have ended, so that the disk is never idle.
//
// A table of which every batch wants a large part is swept instead: it has no slots, and what
// batches want is read for many of them at once, before their turn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graphmount/loading/feed_budget.hpp"
#include "graphmount/loading/rows/cold_rows.hpp"
#include "graphmount/loading/rows/hot_rows.hpp"
#include "graphmount/loading/rows/read_thread.hpp"
#include "graphmount/loading/rows/row_sweep.hpp"
#include "graphmount/loading/rows/row_window.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/reading/row_reader.hpp"
#include "graphmount/table/row_conversion.hpp"

namespace graphmount {

/// Where the rows of all batches so far came from, and how long that took.
struct FeedStats {
  std::uint64_t rows = 0;         // wanted
  std::uint64_t hot_rows = 0;     // that were in the cache for good
  std::uint64_t window_rows = 0;  // that were in a slot
  std::uint64_t read_rows = 0;    // that were read from the file, each once for a batch
  std::uint64_t ridden_rows = 0;  // read with them, because a later batch wants them
  double copy_seconds = 0;
  double wait_seconds = 0;  // for reads, when all else was done
  ReadStats reads;
  std::size_t bytes = 0;  // of memory for rows, bookkeeping and reads
  bool is_swept = false;
};

struct FeedOptions {
  std::uint64_t memory = 0;  // see feed_budget.hpp for what it is for
  double slot_share = 0;
  std::uint64_t window = 1;
  /// The rows of a batch like those to come.
  std::vector<std::int64_t> trial;
  /// The hottest rows, the hottest first; none for the first rows of the file.
  std::vector<std::int64_t> hottest;
  /// What rows are converted to; nothing for no conversion.
  std::optional<DType> dtype;
  ReaderKind reader = ReaderKind::kAuto;
};

class TableFeed {
 public:
  /// Reads the hot rows. The matrix must outlive the feed. Throws IoError, FileChangedError,
  /// IdError for a row that does not exist, std::invalid_argument if there is no such conversion,
  /// and ThreadError.
  TableFeed(const FeatureMatrix& matrix, const FeedOptions& options);

  const FeatureMatrix& matrix() const { return *matrix_; }
  /// For any thread, at any time.
  const HotRows& hot() const { return hot_; }
  std::size_t num_slots() const { return budget_.num_slots; }

  DType dtype() const { return dtype_; }
  /// Bytes of a row as batches get it.
  std::size_t out_row_bytes() const { return static_cast<std::size_t>(conversion_.out_bytes()); }

  /// Whether rows are read before `start`, which has to wait for `arrive` then.
  bool is_swept() const { return sweep_ != nullptr; }

  /// Says what the next batch will want of what is not hot. False if that has to wait until another
  /// batch is filled, which is never so for the first. If the table is swept, `cold` must stay.
  bool announce(const ColdRows& cold) {
    if (sweep_ == nullptr) return window_.announce(cold.rows());
    sweep_->admit(cold.rows());
    return true;
  }
  /// How many bytes the rows of batches that were announced may take, if the table is swept:
  /// see RowSweep.
  void set_room(std::size_t bytes, bool has_spare) {
    if (sweep_ != nullptr) sweep_->set_room(bytes, has_spare);
  }
  /// Waits until the rows of the next batch have been swept up; nothing if the table is not swept.
  void arrive();
  /// Begins with the next batch that was announced: its reads. All rows must exist. Everything must
  /// stay where it is until `finish`. At most two batches are under way at a time.
  void start(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out);
  /// Copies what the batch that was started last needs of what is in memory. The one before must be
  /// finished.
  void copy();
  /// Completes the batch that was started first: its rows are there.
  void finish();
  /// Has `arrive` throw until `abandon`, which has to follow. For any thread.
  void cancel() noexcept {
    if (sweep_ != nullptr) sweep_->cancel();
  }
  /// Gives up what is under way, and forgets what was announced: after an exception of the others,
  /// or a loop that was left early. Without memory for that it throws std::bad_alloc, and has to
  /// be called again.
  void abandon();

  /// Makes the caller the one who uses the feed, until `give_back`; false if somebody else does.
  /// For any thread.
  bool take() noexcept { return !is_taken_.test_and_set(); }
  void give_back() noexcept { is_taken_.clear(); }

  /// As of the last batch that was finished.
  const FeedStats& stats() const { return stats_; }

 private:
  /// A batch that is under way.
  struct Fill {
    std::span<const std::int64_t> ids;
    const ColdRows* cold = nullptr;
    std::byte* out = nullptr;
    std::byte* rows = nullptr;  // as stored: `out` if they are not converted
    WindowPlan plan;
    std::vector<RowRead> reads;
    Buffer<std::byte> stored_rows;
    std::unique_ptr<ReadThread> reader;  // none if all rows are hot
    ReadStats read_stats;                // of the reader, when it was done last
    std::size_t reader_bytes = 0;

    std::byte* row_at(std::size_t place, std::size_t row_bytes) const {
      return rows + place * row_bytes;
    }
  };

  FeedBudget divide(const FeedOptions& options) const;
  RowWindow make_window() const;
  std::unique_ptr<RowReader> make_reader() const;
  void load_hot(std::vector<std::int64_t> hottest);
  void copy_swept(const Fill& fill) const;
  void copy_hot(std::span<const std::int64_t> ids, std::byte* out) const;
  void convert(const std::byte* rows, std::byte* out, std::size_t count) const;
  void count(Fill& fill);
  std::size_t bytes() const;

  const FeatureMatrix* matrix_;
  std::size_t row_bytes_;
  DType dtype_;
  std::vector<float> scales_;
  RowConversion conversion_;
  FeedBudget budget_;
  HotRows hot_;
  Buffer<std::byte> hot_bytes_;
  Buffer<std::byte> slot_bytes_;
  RowWindow window_;
  ReaderKind reader_kind_;
  FeedStats stats_;
  std::array<Fill, 2> fills_;  // in turn
  SweptRows swept_;            // of the batch whose turn it is
  std::unique_ptr<RowSweep> sweep_;
  std::uint64_t num_started_ = 0, num_finished_ = 0;
  std::atomic_flag is_taken_;
};

}  // namespace graphmount
