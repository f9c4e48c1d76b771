// The rows of one table for one batch after the other, within a memory budget, and converted to the
// dtype that is wanted.
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
#include "graphmount/feed_budget.hpp"
#include "graphmount/hot_rows.hpp"
#include "graphmount/read_thread.hpp"
#include "graphmount/row_conversion.hpp"
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
  /// IdError for a row that does not exist, and std::invalid_argument if there is no such
  /// conversion.
  TableFeed(const FeatureMatrix& matrix, const FeedOptions& options);

  const FeatureMatrix& matrix() const { return *matrix_; }
  /// For any thread, at any time.
  const HotRows& hot() const { return hot_; }
  std::size_t num_slots() const { return budget_.num_slots; }

  DType dtype() const { return dtype_; }
  /// Bytes of a row as batches get it.
  std::size_t out_row_bytes() const { return static_cast<std::size_t>(conversion_.out_bytes()); }

  /// Says what the next batch will want of what is not hot. False if that has to wait until another
  /// batch is filled, which is never so for the first.
  bool announce(const ColdRows& cold) { return window_.announce(cold.rows()); }
  /// Forgets what was announced and not filled: after a loop that was left early.
  void forget_announced();

  /// Writes the rows of the next batch that was announced, all of which must exist. If it throws,
  /// nothing is announced afterwards.
  void fill(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out);

  FeedStats stats() const;
  /// Memory for rows and bookkeeping.
  std::size_t bytes() const;

 private:
  FeedBudget divide(const FeedOptions& options) const;
  RowWindow make_window() const;
  void load_hot(std::vector<std::int64_t> hottest);
  void fill_planned(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out);
  void copy_hot(std::span<const std::int64_t> ids, std::byte* out) const;
  void convert(const std::byte* rows, std::byte* out, std::size_t count) const;

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
  WindowPlan plan_;
  std::vector<RowRead> reads_;
  Buffer<std::byte> stored_rows_;  // of one batch, before they are converted
  ReaderKind reader_kind_;
  std::unique_ptr<ReadThread> reader_;  // none if all rows are hot
  FeedStats stats_;
};

}  // namespace graphmount
