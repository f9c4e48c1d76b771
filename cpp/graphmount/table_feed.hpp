// The rows of one table for one batch after the other, within a memory budget.
//
// Part of the budget holds the hottest rows for good; the rest is slots for rows that come and go,
// which the window decides on, since it knows what the next batches want. What is in neither is
// read from the file, many rows at a time and in its order, while hot rows are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graphmount/buffer.hpp"
#include "graphmount/cold_rows.hpp"
#include "graphmount/features.hpp"
#include "graphmount/hot_rows.hpp"
#include "graphmount/read_thread.hpp"
#include "graphmount/row_reader.hpp"
#include "graphmount/row_window.hpp"

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
};

struct FeedOptions {
  std::uint64_t memory = 0;  // for hot rows, slots, and the bookkeeping of both
  /// How much of it is for slots, if not everything fits.
  double slot_share = 0;
  /// About how many rows that are not hot are announced at a time.
  std::uint64_t num_announced = 0;
  /// The hottest rows, the hottest first; none for the first rows of the file.
  std::vector<std::int64_t> hottest;
  ReaderKind reader = ReaderKind::kAuto;
};

/// How a budget is divided.
struct FeedBudget {
  std::uint64_t num_hot;
  std::size_t num_slots;
};
FeedBudget divide_memory(const FeatureMatrix& matrix, const FeedOptions& options);

class TableFeed {
 public:
  /// Reads the hot rows. The matrix must outlive the feed. Throws IoError, FileChangedError and
  /// IdError for a row that does not exist.
  TableFeed(const FeatureMatrix& matrix, const FeedOptions& options);

  const FeatureMatrix& matrix() const { return *matrix_; }
  /// For any thread, at any time.
  const HotRows& hot() const { return hot_; }
  std::size_t num_slots() const { return budget_.num_slots; }

  /// Says what the next batch will want of what is not hot. At most RowWindow::kMostBatches ahead.
  void announce(const ColdRows& cold) { window_.announce(cold.rows()); }
  /// Forgets what was announced and not filled: after a loop that was left early.
  void forget_announced();

  /// Writes the rows of the next batch that was announced, all of which must exist. If it throws,
  /// nothing is announced afterwards.
  void fill(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out);

  FeedStats stats() const;
  /// Memory for rows and bookkeeping.
  std::size_t bytes() const;

 private:
  RowWindow make_window() const;
  void load_hot(std::vector<std::int64_t> hottest);
  void fill_planned(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out);
  void copy_hot(std::span<const std::int64_t> ids, std::byte* out) const;

  const FeatureMatrix* matrix_;
  std::size_t row_bytes_;
  FeedBudget budget_;
  HotRows hot_;
  Buffer<std::byte> hot_bytes_;
  Buffer<std::byte> slot_bytes_;
  RowWindow window_;
  WindowPlan plan_;
  std::vector<RowRead> reads_;
  ReaderKind reader_kind_;
  std::unique_ptr<ReadThread> reader_;
  FeedStats stats_;
};

}  // namespace graphmount
