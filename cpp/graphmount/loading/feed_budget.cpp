#include "graphmount/loading/feed_budget.hpp"

#include <algorithm>

#include "graphmount/loading/rows/hot_rows.hpp"
#include "graphmount/loading/rows/row_sweep.hpp"
#include "graphmount/loading/rows/row_window.hpp"
#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {
namespace {

std::uint64_t take(std::uint64_t memory, std::uint64_t bytes) {
  return memory - std::min(memory, bytes);
}

/// What a hot row takes. Shared ones that are not the first have their ids beside them.
std::uint64_t hot_row_bytes(const FeedNeeds& needs) {
  const bool has_ids = needs.sharers > 1 && !needs.hot_is_prefix;
  return std::max<std::uint64_t>(needs.row_bytes, 1) + (has_ids ? sizeof(std::int64_t) : 0);
}

/// What so many hot rows take of the memory of each process.
std::uint64_t part_of_hot(const FeedNeeds& needs, std::uint64_t num_hot) {
  const std::uint64_t row_bytes = hot_row_bytes(needs);
  return num_hot / needs.sharers * row_bytes +
         (num_hot % needs.sharers * row_bytes + needs.sharers - 1) / needs.sharers;
}

/// How many hot rows so much memory of each process can hold.
std::uint64_t hot_rows_in(const FeedNeeds& needs, std::uint64_t bytes) {
  const std::uint64_t row_bytes = hot_row_bytes(needs);
  return bytes > UINT64_MAX / needs.sharers ? UINT64_MAX / row_bytes
                                            : bytes * needs.sharers / row_bytes;
}

std::uint64_t count_cold(const FeedNeeds& needs, std::uint64_t num_hot) {
  const auto first = std::lower_bound(needs.ranks.begin(), needs.ranks.end(), num_hot);
  return static_cast<std::uint64_t>(needs.ranks.end() - first);
}

// A sweep shares reads among as many batches as are known.
constexpr std::uint64_t kLeastSweepWindow = 4;
constexpr std::uint64_t kMostChunkBytes = 8 << 20;
constexpr std::size_t kMostChunkRows = 16384;

/// Whether batches need a row of nearly every stretch of the table that one read covers: each by
/// itself; or, if two thirds of a batch are hot, those that share a sweep together. There is room
/// for all rows of two batches, and batches in a sweep have half of their cold ones on average. If
/// less is hot, few batches share a read, and slots keep more than the same memory of hot rows.
bool is_dense(const FeedNeeds& needs, std::uint64_t num_hot) {
  const std::uint64_t rows_at_once = needs.read_bytes / std::max<std::uint64_t>(needs.row_bytes, 1);
  const std::uint64_t cold = count_cold(needs, num_hot), rows = needs.ranks.size();
  const std::uint64_t together = 3 * cold <= rows ? std::min(cold * needs.window, 4 * rows) : cold;
  return together * rows_at_once >= needs.num_rows - num_hot;
}

}  // namespace

FeedBudget divide_memory(const FeedNeeds& needs) {
  const std::uint64_t row_bytes = std::max<std::uint64_t>(needs.row_bytes, 1);
  if (needs.num_given ? *needs.num_given == needs.num_rows
                      : needs.num_rows <= hot_rows_in(needs, needs.memory))
    return {needs.num_rows, 0, 0, kLeastDepth};
  FeedBudget budget;
  // Reads in flight get a sixteenth: what is kept in memory need not be read.
  budget.depth = static_cast<unsigned>(
      std::clamp<std::uint64_t>(needs.memory / 32 / std::max<std::uint64_t>(needs.read_bytes, 1),
                                kLeastDepth, ReaderOptions::kMostDepth));
  const std::uint64_t memory =
      needs.memory - std::min(needs.memory / 16, 2 * budget.depth * needs.read_bytes);
  const std::uint64_t map_bytes = needs.hot_is_prefix ? 0 : HotRows::bytes_for(needs.num_rows);
  const bool has_hot = needs.num_given || map_bytes <= memory / 8;
  const std::uint64_t for_rows =
      take(take(memory, has_hot ? map_bytes : 0), part_of_hot(needs, needs.num_given.value_or(0)));
  const auto set_hot = [&](std::uint64_t bytes) {
    if (needs.num_given)
      budget.num_hot = *needs.num_given;
    else
      budget.num_hot =
          has_hot ? std::min({hot_rows_in(needs, bytes), needs.num_rows, needs.most_hot}) : 0;
  };
  // Bookkeeping beyond a quarter would cost more rows than they save.
  const std::uint64_t most_bookkeeping = for_rows / 4;
  // What hot rows cannot use is for slots too.
  const std::uint64_t most_hot_bytes =
      needs.num_given ? 0 : part_of_hot(needs, std::min(needs.num_rows, needs.most_hot));
  const double shared_bytes = static_cast<double>(for_rows) * needs.slot_share;
  const double slot_bytes =
      std::max(shared_bytes, static_cast<double>(take(for_rows, most_hot_bytes)));
  const std::uint64_t reserved = slot_bytes > shared_bytes ? most_hot_bytes : 0;
  const auto wanted_slots = static_cast<std::size_t>(
      std::min(slot_bytes / static_cast<double>(row_bytes + RowWindow::kBytesPerSlot),
               static_cast<double>(UINT32_MAX / 2)));
  set_hot(for_rows);
  if (needs.long_read_bytes != 0 && needs.window >= kLeastSweepWindow &&
      is_dense(needs, budget.num_hot)) {
    // In the same memory; but many short reads are better than few long ones.
    const std::uint64_t long_depth = budget.depth * needs.read_bytes / needs.long_read_bytes;
    if (long_depth >= kLeastDepth) {
      budget.depth = static_cast<unsigned>(long_depth);
      budget.has_long_reads = true;
    }
    const std::size_t bytes_per_row = RowSweep::bookkeeping_bytes(kReadersPerFeed, 1);
    budget.chunk_rows = std::clamp(static_cast<std::size_t>(std::min(kMostChunkBytes / row_bytes,
                                                                     memory / 64 / bytes_per_row)),
                                   kLeastChunkRows, kMostChunkRows);
    set_hot(take(for_rows, RowSweep::bookkeeping_bytes(kReadersPerFeed, budget.chunk_rows)));
    return budget;
  }
  if (wanted_slots == 0 || RowWindow::bytes_for(1, needs.num_rows, 1) > most_bookkeeping)
    return budget;

  set_hot(take(for_rows, static_cast<std::uint64_t>(slot_bytes)));
  // Fewer hot rows mean more bookkeeping, which leaves room for fewer hot rows.
  for (int round = 0; round < 4; ++round) {
    const std::uint64_t wanted = count_cold(needs, budget.num_hot);
    budget.num_known = wanted_slots + static_cast<std::size_t>(wanted * needs.window);
    // More slots than for the rows of the window, and of the batch that has just been read, would
    // be full of rows that nobody is known to want. Hot rows take that memory, if they can.
    const auto useful_slots = static_cast<std::size_t>(wanted * (needs.window + 1));
    budget.num_slots =
        reserved == 0 && needs.window > 1 ? std::min(wanted_slots, useful_slots) : wanted_slots;
    const auto bookkeeping = [&] {
      return RowWindow::bytes_for(budget.num_slots, needs.num_rows, budget.num_known);
    };
    while (bookkeeping() > most_bookkeeping) {
      budget.num_known /= 2;
      budget.num_slots = std::min(budget.num_slots, budget.num_known / 2);
    }
    // If one batch needs all slots, or more than the bookkeeping can hold, slots are of no use.
    const std::uint64_t cold = count_cold(needs, budget.num_hot);
    if (budget.num_slots <= cold || budget.num_known < budget.num_slots + cold + cold / 4) {
      budget.num_slots = budget.num_known = 0;
      set_hot(for_rows);
      return budget;
    }
    const std::uint64_t rest = take(for_rows, bookkeeping());
    budget.num_slots = std::min<std::size_t>(
        budget.num_slots, static_cast<std::size_t>(take(rest, reserved) / row_bytes));
    set_hot(take(rest, budget.num_slots * row_bytes));
  }
  return budget;
}

}  // namespace graphmount
