// Decides which rows to keep: the bookkeeping of a row cache that knows which rows the next batches
// need, as far as the loader has sampled ahead.
//
// Batches are announced with their rows, in order, up to `kMostBatches` ahead, and planned in the
// same order. A plan says for each row of a batch whether it is in a slot or must be read, and
// which rows go to slots afterwards. A row that is needed soon is kept rather than one that is
// needed later (Belady's rule). Rows that no announced batch needs stay as long as there is room,
// the latest longest. No bytes of rows are touched here, and there are never more rows than slots.
// Bookkeeping is capped at `num_known` rows: a batch that does not fit in has to wait.
//
// Two batches may be under way at a time: a plan is made, and its reads begin, before the rows that
// the plan before it keeps have been copied, and before its riders have arrived.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graphmount/base/fetch.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/loading/rows/slot_lists.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// A row of a batch, by its place among the batch's rows, and a slot.
struct SlotMove {
  std::uint32_t place;
  std::uint32_t slot;
};

/// A row of later batches, and the slot that it is read to.
struct Rider {
  std::uint64_t row;
  std::uint32_t slot;
};

/// What to do for one batch, in this order.
struct WindowPlan {
  std::vector<SlotMove> hits;        // copy from the slot
  std::vector<std::uint32_t> reads;  // places of rows to read from the file, in order
  std::vector<Rider> riders;         // rows to read with them, in no order
  std::vector<SlotMove> keeps;       // copy to the slot, once they have been read

  void clear() {
    hits.clear();
    reads.clear();
    riders.clear();
    keeps.clear();
  }
};

/// The rows that may come with a row when its blocks are read: those of the same blocks, and of
/// some blocks on either side, which a request can take as well.
class RowBlocks {
 public:
  /// Rows of this size lie one after the other from the beginning of a block on. Blocks of 0 bytes
  /// do not matter.
  RowBlocks(std::uint64_t row_bytes, std::uint64_t block_bytes, std::uint64_t beside = 0)
      : row_bytes_(row_bytes),
        block_bytes_(row_bytes < block_bytes ? block_bytes : 0),
        beside_bytes_(beside * block_bytes_) {}

  /// The first whole row in these blocks, and the one behind the last.
  std::pair<std::uint64_t, std::uint64_t> around(std::uint64_t row) const {
    if (block_bytes_ == 0 || row_bytes_ == 0) return {row, row + 1};
    std::uint64_t begin = row * row_bytes_ / block_bytes_ * block_bytes_;
    begin -= std::min(begin, beside_bytes_);
    const std::uint64_t end = round_up((row + 1) * row_bytes_, block_bytes_) + beside_bytes_;
    return {(begin + row_bytes_ - 1) / row_bytes_, end / row_bytes_};
  }

 private:
  std::uint64_t row_bytes_, block_bytes_, beside_bytes_;
};

class RowWindow {
 public:
  /// How many batches can be announced and not planned yet.
  static constexpr std::uint64_t kMostBatches = 63;
  /// What the bookkeeping needs for each slot: its row, and its place in a list.
  static constexpr std::size_t kBytesPerSlot = sizeof(std::uint64_t) + SlotLists::bytes_per_slot();

  /// For rows [0, num_rows), with bookkeeping for `num_known` of them, those in slots included.
  RowWindow(std::size_t num_slots, std::uint64_t num_rows, RowBlocks blocks, std::size_t num_known);

  std::size_t num_slots() const { return row_in_slot_.size(); }

  /// Announces the rows of the next batch, sorted and each once. False if there is no room for it
  /// before another batch is planned; there always is for the first.
  bool announce(std::span<const std::uint64_t> rows);

  /// Plans the first batch that was announced and not planned yet; `rows` are the same.
  void plan(std::span<const std::uint64_t> rows, WindowPlan& plan);

  /// Whether a row of the last plan but one still is to be copied to the slot that was to keep it.
  bool is_kept(std::uint32_t slot, std::uint64_t row) const {
    return row_in_slot_[slot] == row && slots_.list_of(slot) != kRiding + (next_planned_ - 1) % 2;
  }

  /// Batches that are announced and not planned.
  std::uint64_t num_announced() const { return next_announced_ - next_planned_; }

  /// Memory of the bookkeeping itself.
  std::size_t bytes() const;

  /// How much memory that is. Nothing without slots, since nothing is kept then.
  static std::size_t bytes_for(std::size_t num_slots, std::uint64_t num_rows,
                               std::size_t num_known);

 private:
  static constexpr std::uint32_t kNone = SlotLists::kNone;
  static constexpr std::uint64_t kNoRow = UINT64_MAX;
  // The lists of slots: slots with rows that no announced batch needs, the oldest first; slots that
  // the current plan copies from, or in which it will keep a row that no batch needs so far; slots
  // that riders of the last two plans will fill; and one list for each batch that is the next to
  // need the row.
  static constexpr std::size_t kIdle = 0, kInUse = 1, kRiding = 2, kFirstWanted = 4;

  struct Entry {
    std::uint64_t row;
    std::uint64_t batches;  // that want it, by their numbers modulo 64; 0 if none does
    std::uint32_t slot;
    bool is_used;
  };

  Entry* find(std::uint64_t row);
  Entry& find_or_add(std::uint64_t row);
  void erase(Entry& entry);
  static std::size_t table_size(std::size_t num_known);
  bool has_room_for(std::span<const std::uint64_t> rows);
  void rehash(std::size_t num_entries);
  std::size_t home_of(std::uint64_t row) const;
  /// Fetches the entry of a row that is looked up soon: the table is larger than any cache.
  void prefetch(std::span<const std::uint64_t> rows, std::size_t place) const {
    if (place + kFetchedLines < rows.size())
      fetch_line(entries_.data() + home_of(rows[place + kFetchedLines]));
  }

  /// How many batches after the one being planned an entry is wanted; at least 1.
  unsigned next_use(const Entry& entry) const;
  std::uint32_t take_idle_slot();
  std::uint32_t take_slot_wanted_after(unsigned distance);
  std::size_t wanted_list(std::uint64_t batch) const { return kFirstWanted + batch % 64; }
  std::size_t list_for(const Entry& entry) const;
  void release_slots(std::size_t list);
  void put_into(std::uint32_t slot, Entry& entry, std::size_t list);
  void add_riders(std::uint64_t first, std::uint64_t end, std::span<const std::uint64_t> batch,
                  std::vector<Rider>& riders);
  void set_missing(std::uint64_t row, bool is_missing);

  RowBlocks blocks_;
  std::uint64_t num_rows_;
  Buffer<std::uint64_t> missing_;  // a bit for each row that is announced and in no slot
  Buffer<Entry> entries_;
  std::size_t num_entries_ = 0;
  std::vector<std::uint64_t> row_in_slot_;  // or kNoRow
  SlotLists slots_;
  std::uint64_t next_announced_ = 0, next_planned_ = 0;
};

}  // namespace graphmount
