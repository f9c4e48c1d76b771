#include "graphmount/row_window.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "graphmount/random.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t bit_of(std::uint64_t batch) {
  return std::uint64_t{1} << batch % 64;
}

}  // namespace

RowWindow::RowWindow(std::size_t num_slots) : row_in_slot_(num_slots), free_slots_(num_slots) {
  // So that slots are taken from the first on.
  std::iota(free_slots_.rbegin(), free_slots_.rend(), std::uint32_t{0});
  rehash(1024);
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
  if (2 * num_entries_ >= entries_.size()) rehash(2 * entries_.size());
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

void RowWindow::announce(std::span<const std::uint64_t> rows) {
  if (num_announced() == kMostBatches)
    throw std::logic_error("more batches are announced than a window holds");
  for (const std::uint64_t row : rows) {
    Entry& entry = find_or_add(row);
    const bool was_idle = entry.batches == 0;
    entry.batches |= bit_of(next_announced_);
    if (was_idle && entry.slot != kNone) slots_by_use_[next_announced_ % 64].push_back(entry.slot);
  }
  ++next_announced_;
}

unsigned RowWindow::next_use(const Entry& entry) const {
  return static_cast<unsigned>(
      std::countr_zero(std::rotr(entry.batches, static_cast<int>(next_planned_ % 64))));
}

std::uint32_t RowWindow::take_idle_slot() {
  if (!free_slots_.empty()) {
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  while (!idle_slots_.empty()) {
    const std::uint32_t slot = idle_slots_.front();
    idle_slots_.pop_front();
    Entry* entry = find(row_in_slot_[slot]);
    // Some batch may want it again since, or it was idle twice.
    if (entry == nullptr || entry->slot != slot || entry->batches != 0) continue;
    erase(*entry);
    return slot;
  }
  return kNone;
}

std::uint32_t RowWindow::take_slot_wanted_after(unsigned distance) {
  for (auto far = static_cast<unsigned>(num_announced()) - 1; far > distance; --far) {
    auto& slots = slots_by_use_[(next_planned_ + far) % 64];
    while (!slots.empty()) {
      const std::uint32_t slot = slots.back();
      slots.pop_back();
      Entry* entry = find(row_in_slot_[slot]);
      if (entry == nullptr || entry->slot != slot || entry->batches == 0 || next_use(*entry) != far)
        continue;
      entry->slot = kNone;  // it will have to be read again
      return slot;
    }
  }
  return kNone;
}

void RowWindow::plan(std::span<const std::uint64_t> rows, WindowPlan& plan) {
  if (num_announced() == 0) throw std::logic_error("the batch to plan was not announced");
  plan.clear();
  just_idle_.clear();
  const std::uint64_t mine = bit_of(next_planned_);
  for (std::uint32_t place = 0; place < rows.size(); ++place) {
    Entry* entry = find(rows[place]);
    if (entry == nullptr) throw std::logic_error("a row to plan was not announced");
    entry->batches &= ~mine;
    if (entry->slot != kNone) {
      plan.hits.push_back({place, entry->slot});
      if (entry->batches == 0)
        just_idle_.push_back(entry->slot);
      else
        slots_by_use_[(next_planned_ + next_use(*entry)) % 64].push_back(entry->slot);
      continue;
    }
    plan.reads.push_back(place);
    const bool is_wanted = entry->batches != 0;
    const unsigned use = is_wanted ? next_use(*entry) : 0;
    std::uint32_t slot = take_idle_slot();
    if (slot == kNone && is_wanted) slot = take_slot_wanted_after(use);
    entry = find(rows[place]);  // taking a slot moves entries
    if (slot == kNone) {
      if (!is_wanted) erase(*entry);
      continue;
    }
    entry->slot = slot;
    row_in_slot_[slot] = rows[place];
    plan.keeps.push_back({place, slot});
    if (is_wanted)
      slots_by_use_[(next_planned_ + use) % 64].push_back(slot);
    else
      just_idle_.push_back(slot);
  }
  // Not before: a slot that this batch copies from must not be filled by the same batch and then
  // copied from again.
  idle_slots_.insert(idle_slots_.end(), just_idle_.begin(), just_idle_.end());
  slots_by_use_[next_planned_ % 64].clear();
  ++next_planned_;
}

std::size_t RowWindow::bytes() const {
  std::size_t sum = entries_.bytes() + row_in_slot_.capacity() * 8 + free_slots_.capacity() * 4 +
                    idle_slots_.size() * 4;
  for (const auto& slots : slots_by_use_) sum += slots.capacity() * 4;
  return sum;
}

std::size_t RowWindow::bytes_for(std::size_t num_slots, std::size_t num_rows) {
  return std::bit_ceil(2 * (num_slots + num_rows)) * sizeof(Entry) + num_slots * 24;
}

}  // namespace graphmount
