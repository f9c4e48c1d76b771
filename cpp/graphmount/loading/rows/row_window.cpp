#include "graphmount/loading/rows/row_window.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "graphmount/base/random.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kSpare = 3;  // a quarter of the table stays empty, for short searches

constexpr std::uint64_t bit_of(std::uint64_t batch) {
  return std::uint64_t{1} << batch % 64;
}

}  // namespace

RowWindow::RowWindow(std::size_t num_slots, std::uint64_t num_rows, RowBlocks blocks,
                     std::size_t num_known)
    : blocks_(blocks),
      num_rows_(num_rows),
      row_in_slot_(num_slots, kNoRow),
      slots_(num_slots, kFirstWanted + 64) {
  if (num_slots == 0) return;
  missing_.resize(static_cast<std::size_t>(num_rows / 64 + 1));
  std::fill(missing_.data(), missing_.data() + missing_.size(), 0);
  rehash(table_size(std::max(num_known, num_slots)));
}

std::size_t RowWindow::table_size(std::size_t num_known) {
  return std::bit_ceil(std::max<std::size_t>(num_known + num_known / kSpare + 1, 64));
}

void RowWindow::set_missing(std::uint64_t row, bool is_missing) {
  const std::uint64_t bit = std::uint64_t{1} << row % 64;
  std::uint64_t& word = missing_[row / 64];
  word = is_missing ? word | bit : word & ~bit;
}

std::size_t RowWindow::home_of(std::uint64_t row) const {
  return mix_bits(row) & (entries_.size() - 1);
}

void RowWindow::rehash(std::size_t num_entries) {
  Buffer<Entry> old(num_entries);
  std::swap(old, entries_);
  for (Entry& entry : entries_.span()) entry.is_used = false;
  for (const Entry& entry : old.span()) {
    if (!entry.is_used) continue;
    std::size_t at = home_of(entry.row);
    while (entries_[at].is_used) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = entry;
  }
}

RowWindow::Entry* RowWindow::find(std::uint64_t row) {
  for (std::size_t at = home_of(row); entries_[at].is_used; at = (at + 1) & (entries_.size() - 1))
    if (entries_[at].row == row) return &entries_[at];
  return nullptr;
}

RowWindow::Entry& RowWindow::find_or_add(std::uint64_t row) {
  // Only if a single batch is too large for the table.
  if (num_entries_ + 1 >= entries_.size() - entries_.size() / (kSpare + 1))
    rehash(2 * entries_.size());
  std::size_t at = home_of(row);
  for (; entries_[at].is_used; at = (at + 1) & (entries_.size() - 1))
    if (entries_[at].row == row) return entries_[at];
  ++num_entries_;
  return entries_[at] = {row, 0, kNone, true};
}

void RowWindow::erase(Entry& entry) {
  // Entries behind it that have been pushed aside move up, so that no search ends early.
  const std::size_t mask = entries_.size() - 1;
  auto hole = static_cast<std::size_t>(&entry - entries_.data());
  for (std::size_t at = (hole + 1) & mask; entries_[at].is_used; at = (at + 1) & mask) {
    const std::size_t home = home_of(entries_[at].row);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    entries_[hole] = entries_[at];
    hole = at;
  }
  entries_[hole].is_used = false;
  --num_entries_;
}

bool RowWindow::has_room_for(std::span<const std::uint64_t> rows) {
  const std::size_t most = entries_.size() - entries_.size() / (kSpare + 1);
  if (num_entries_ + rows.size() + 1 < most) return true;
  std::size_t num_new = 0;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    prefetch(rows, place);
    num_new += find(rows[place]) == nullptr ? 1 : 0;
  }
  return num_entries_ + num_new + 1 < most;
}

bool RowWindow::announce(std::span<const std::uint64_t> rows) {
  if (num_announced() == kMostBatches) return false;
  if (num_slots() == 0) {
    ++next_announced_;
    return true;
  }
  if (num_announced() != 0 && !has_room_for(rows)) return false;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    prefetch(rows, place);
    const std::uint64_t row = rows[place];
    Entry& entry = find_or_add(row);
    const bool was_idle = entry.batches == 0;
    entry.batches |= bit_of(next_announced_);
    if (entry.slot == kNone)
      set_missing(row, true);
    else if (was_idle && slots_.list_of(entry.slot) == kIdle)
      slots_.move(entry.slot, wanted_list(next_announced_));
  }
  ++next_announced_;
  return true;
}

unsigned RowWindow::next_use(const Entry& entry) const {
  return static_cast<unsigned>(
      std::countr_zero(std::rotr(entry.batches, static_cast<int>(next_planned_ % 64))));
}

std::uint32_t RowWindow::take_idle_slot() {
  const std::uint32_t slot = slots_.first(kIdle);
  if (slot != kNone && row_in_slot_[slot] != kNoRow) erase(*find(row_in_slot_[slot]));
  return slot;
}

std::uint32_t RowWindow::take_slot_wanted_after(unsigned distance) {
  for (auto far = static_cast<unsigned>(num_announced()) - 1; far > distance; --far) {
    const std::uint32_t slot = slots_.last(wanted_list(next_planned_ + far));
    if (slot == kNone) continue;
    find(row_in_slot_[slot])->slot = kNone;  // it will have to be read again
    set_missing(row_in_slot_[slot], true);
    return slot;
  }
  return kNone;
}

void RowWindow::put_into(std::uint32_t slot, Entry& entry, std::size_t list) {
  entry.slot = slot;
  row_in_slot_[slot] = entry.row;
  set_missing(entry.row, false);
  slots_.move(slot, list);
}

std::size_t RowWindow::list_for(const Entry& entry) const {
  return entry.batches == 0 ? kIdle : wanted_list(next_planned_ + next_use(entry));
}

void RowWindow::release_slots(std::size_t list) {
  for (std::uint32_t slot; (slot = slots_.first(list)) != kNone;)
    slots_.move(slot, list_for(*find(row_in_slot_[slot])));
}

void RowWindow::add_riders(std::uint64_t first, std::uint64_t end,
                           std::span<const std::uint64_t> batch, std::vector<Rider>& riders) {
  for (std::uint64_t other = first; other < std::min(end, num_rows_); ++other) {
    if ((missing_[other / 64] >> other % 64 & 1) == 0) continue;
    // Rows of this batch are read anyway.
    if (std::binary_search(batch.begin(), batch.end(), other)) continue;
    std::uint32_t slot = take_idle_slot();
    if (slot == kNone) slot = take_slot_wanted_after(next_use(*find(other)));
    if (slot == kNone) continue;
    put_into(slot, *find(other), kRiding + next_planned_ % 2);  // taking a slot moves entries
    riders.push_back({other, slot});
  }
}

void RowWindow::plan(std::span<const std::uint64_t> rows, WindowPlan& plan) {
  if (num_announced() == 0) throw std::logic_error("the batch to plan was not announced");
  plan.clear();
  if (num_slots() == 0) {
    plan.reads.resize(rows.size());
    std::iota(plan.reads.begin(), plan.reads.end(), std::uint32_t{0});
    ++next_planned_;
    return;
  }
  release_slots(kRiding + next_planned_ % 2);  // of the last plan but one: these have arrived
  const std::uint64_t mine = bit_of(next_planned_);
  for (std::uint32_t place = 0; place < rows.size(); ++place) {
    prefetch(rows, place);
    Entry* entry = find(rows[place]);
    if (entry == nullptr) throw std::logic_error("a row to plan was not announced");
    entry->batches &= ~mine;
    if (entry->slot != kNone) {
      plan.hits.push_back({place, entry->slot});
      put_into(entry->slot, *entry, kInUse);
      continue;
    }
    plan.reads.push_back(place);
    set_missing(rows[place], false);
    const bool is_wanted = entry->batches != 0;
    std::uint32_t slot = take_idle_slot();
    if (slot == kNone && is_wanted) slot = take_slot_wanted_after(next_use(*find(rows[place])));
    entry = find(rows[place]);  // taking a slot moves entries
    if (slot != kNone) {
      put_into(slot, *entry, is_wanted ? list_for(*entry) : kInUse);
      plan.keeps.push_back({place, slot});
    } else if (is_wanted) {
      set_missing(rows[place], true);
    } else {
      erase(*entry);
    }
  }
  std::uint64_t looked_at = 0;  // rows before this one, by rows that were read before
  for (const std::uint32_t place : plan.reads) {
    const auto [first, end] = blocks_.around(rows[place]);
    add_riders(std::max(first, looked_at), end, rows, plan.riders);
    looked_at = end;
  }
  // A slot may have been taken again for another row since.
  std::erase_if(plan.keeps,
                [&](const SlotMove& keep) { return row_in_slot_[keep.slot] != rows[keep.place]; });
  release_slots(kInUse);
  ++next_planned_;
}

std::size_t RowWindow::bytes() const {
  return missing_.bytes() + entries_.bytes() + row_in_slot_.capacity() * sizeof(std::uint64_t) +
         slots_.bytes();
}

std::size_t RowWindow::bytes_for(std::size_t num_slots, std::uint64_t num_rows,
                                 std::size_t num_known) {
  if (num_slots == 0) return 0;
  return table_size(std::max(num_known, num_slots)) * sizeof(Entry) + num_slots * kBytesPerSlot +
         static_cast<std::size_t>(num_rows / 8 + 8);
}

}  // namespace graphmount
