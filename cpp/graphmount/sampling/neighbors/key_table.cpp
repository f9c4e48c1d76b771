#include "graphmount/sampling/neighbors/key_table.hpp"

#include <algorithm>
#include <utility>

namespace graphmount {

void KeyTable::clear() {
  used_ = 0;
  if (++round_ != 0) return;
  // After 2^32 rounds, slots of the first would seem to be of this one.
  for (Slot& slot : slots_.span()) slot.round = 0;
  round_ = 1;
}

void KeyTable::grow() {
  constexpr std::size_t kLeastSlots = 1024;
  Buffer<Slot> old(std::max(kLeastSlots, 2 * slots_.size()));
  std::swap(old, slots_);
  for (Slot& slot : slots_.span()) slot.round = 0;
  for (const Slot& slot : old.span()) {
    if (slot.round != round_) continue;
    std::size_t at = place_of(slot.key);
    while (slots_[at].round == round_) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::optional<std::uint32_t> KeyTable::find(std::uint64_t key) const {
  if (slots_.empty()) return std::nullopt;
  for (std::size_t at = place_of(key); slots_[at].round == round_;
       at = (at + 1) & (slots_.size() - 1))
    if (slots_[at].key == key) return slots_[at].number;
  return std::nullopt;
}

}  // namespace graphmount
