// Fetches the rows of one table, batch after batch, within a memory budget, and converts them to
// the requested dtype.
//
// Part of the budget permanently holds the hottest rows; the rest is a row cache, which knows what
// the next batches need. All other rows are read from the file, many at a time and in its order,
// while hot rows are copied. The cache has slots for rows that come and go. If the batches of a
// window together need a large part of a table, the table is swept instead (feed_budget.hpp).
//
// A feed may aggregate: a batch gets the rows of its targets, and sums or means of the rows of
// their neighbors. Hot rows are summed where they lie then, and only cold ones are put together.
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
#include "graphmount/loading/neighbor_sums.hpp"
#include "graphmount/loading/rows/cold_rows.hpp"
#include "graphmount/loading/rows/hot_rows.hpp"
#include "graphmount/loading/rows/row_cache.hpp"
#include "graphmount/loading/rows/shared_hot_rows.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/reading/row_reader.hpp"
#include "graphmount/table/row_conversion.hpp"

namespace graphmount {

struct FeedOptions {
  IdSpace space = IdSpace::kNodes;  // the table has a row for each of its ids
  std::uint64_t memory = 0;         // see feed_budget.hpp for what it is for
  double slot_share = 0;
  std::uint64_t window = 1;
  /// The rows of a batch like those to come.
  std::vector<std::int64_t> trial;
  /// The hottest rows, the hottest first; none for the first rows of the file.
  std::vector<std::int64_t> hottest;
  /// What rows are converted to; nothing for no conversion.
  std::optional<DType> dtype;
  ReaderKind reader = ReaderKind::kAuto;
  Aggregation aggregation = Aggregation::kNone;  // else rows of nodes, as float32
  /// How many processes of this machine have the hot rows together; 1 for memory of its own.
  std::uint64_t sharers = 1;
  /// What one of the others has read; nothing to read them here.
  std::optional<SharedHotRows> given = {};
  /// That read rows of several tables; null for threads of its own.
  std::shared_ptr<ReadThreads> threads = nullptr;
};

/// Where the rows of a batch go.
struct FeedOutput {
  /// One for each of the ids, or, if the feed aggregates, for each target of `edges`.
  std::byte* rows = nullptr;
  // If the feed aggregates:
  std::byte* aggregated = nullptr;  // one for each target
  NeighborEdges edges = {};         // between the ids, by their places
};

class TableFeed {
 public:
  /// Reads the hot rows, unless they are given. The matrix must outlive the feed. Throws IoError,
  /// FileChangedError, IdError for a row that does not exist, std::invalid_argument if there is no
  /// such conversion, such rows cannot be aggregated, or given rows are not those of the table, and
  /// ThreadError.
  TableFeed(const FeatureMatrix& matrix, const FeedOptions& options);

  const FeatureMatrix& matrix() const { return *matrix_; }
  IdSpace space() const { return space_; }
  /// For any thread, at any time.
  const HotRows& hot() const { return hot_; }
  std::size_t num_slots() const { return budget_.num_slots; }
  /// The hot rows for other processes; nothing unless they are shared.
  const std::optional<SharedHotRows>& shared_hot() const { return shared_; }

  DType dtype() const { return dtype_; }
  /// Bytes of a row as batches get it.
  std::size_t out_row_bytes() const { return static_cast<std::size_t>(conversion_.out_bytes()); }

  /// Throws IdError unless the table has a row for each of the ids: later steps do not check them
  /// again.
  void require_rows(std::span<const std::int64_t> ids) const;

  bool aggregates() const { return aggregation_ != Aggregation::kNone; }

  /// Whether rows are read before `start`, which has to wait for `arrive` then.
  bool is_swept() const { return stats_.is_swept; }

  /// Announces the rows of the next batch that are not hot. False if that has to wait until another
  /// batch is filled, which is never so for the first. If the table is swept, `cold` must stay.
  bool announce(const ColdRows& cold) { return cache_->announce(cold.rows()); }
  /// How many bytes the rows of batches that were announced may take, if the table is swept:
  /// see RowSweep.
  void set_room(std::size_t bytes, bool has_spare) { cache_->set_room(bytes, has_spare); }
  /// Waits until the rows of the next batch have been swept up; nothing if the table is not swept.
  void arrive();
  /// Begins with the next batch that was announced: its reads. All rows must exist. Everything must
  /// stay where it is until `finish`. At most two batches are under way at a time.
  void start(std::span<const std::int64_t> ids, const ColdRows& cold, const FeedOutput& out);
  /// Copies the rows that are in memory into the batch that was started last. The batch before it
  /// must be finished.
  void copy();
  /// Completes the batch that was started first: its rows are there.
  void finish();
  /// Has `arrive` throw until `abandon`, which has to follow. For any thread.
  void cancel() noexcept { cache_->cancel(); }
  /// Gives up what is under way, and forgets what was announced: after an exception of the others,
  /// or a loop that was left early. Without memory for that it throws std::bad_alloc, and has to
  /// be called again.
  void abandon();

  /// Takes the feed for the caller alone, until `give_back`; false if it is taken. For any thread.
  bool take() noexcept { return !is_taken_.test_and_set(); }
  void give_back() noexcept { is_taken_.clear(); }

  /// As of the last batch that was finished.
  const FeedStats& stats() const { return stats_; }

 private:
  /// A batch that is under way.
  struct Fill {
    std::span<const std::int64_t> ids;
    RowFill rows;
    FeedOutput out;
    Buffer<std::byte> stored_rows;          // unless they are put together in `out`
    Buffer<const std::byte*> row_of_place;  // if the feed aggregates: where each row is
  };

  FeedBudget divide(const FeedOptions& options) const;
  std::unique_ptr<RowReader> make_reader() const;
  std::unique_ptr<RowCache> make_cache(std::shared_ptr<ReadThreads> threads) const;
  void load_hot(const FeedOptions& options);
  void require_given(const SharedHotRows& given) const;
  void take_hot(const SharedHotRows& given);
  void read_hot(std::span<const std::int64_t> ids, std::byte* out) const;
  void copy_hot(std::span<const std::int64_t> ids, std::byte* out) const;
  void find_rows(Fill& fill) const;
  void convert(const std::byte* rows, std::byte* out, std::size_t count) const;
  void aggregate(const Fill& fill) const;
  std::size_t bytes() const;

  const FeatureMatrix* matrix_;
  IdSpace space_;
  std::size_t row_bytes_;
  DType dtype_;
  std::vector<float> scales_;
  RowConversion conversion_;
  FeedBudget budget_;
  ReaderKind reader_kind_;
  Aggregation aggregation_;
  HotRows hot_;
  std::uint64_t sharers_;
  Buffer<std::byte> own_hot_;            // unless they are shared
  std::optional<SharedHotRows> shared_;  // else
  const std::byte* hot_bytes_ = nullptr;
  FeedStats stats_;
  std::array<Fill, 2> fills_;  // in turn
  std::uint64_t num_started_ = 0, num_finished_ = 0;
  std::unique_ptr<RowCache> cache_;
  std::atomic_flag is_taken_;
};

}  // namespace graphmount
