#include "graphmount/sampling/neighbors/node_numbering.hpp"

#include <algorithm>
#include <utility>

namespace graphmount {

void NodeNumbering::clear() {
  for (Partition& partition : partitions_) partition.used = 0;
  if (++round_ != 0) return;
  // After 2^32 rounds, slots of the first would seem to be of this one.
  for (Partition& partition : partitions_)
    for (Slot& slot : partition.slots.span()) slot.round = 0;
  round_ = 1;
}

void NodeNumbering::grow(Partition& partition) const {
  constexpr std::size_t kLeastSlots = 1024;
  Buffer<Slot> slots(std::max(kLeastSlots, 2 * partition.slots.size()));
  for (Slot& slot : slots.span()) slot.round = 0;
  for (const Slot& old : partition.slots.span()) {
    if (old.round != round_) continue;
    std::size_t at = slot_of(hash(old.key), slots.size());
    while (slots[at].round == round_) at = (at + 1) & (slots.size() - 1);
    slots[at] = old;
  }
  partition.slots = std::move(slots);
}

void NodeNumbering::number(std::size_t index, std::span<const NumberedKey> entries,
                           std::uint32_t* first) {
  Partition& partition = partitions_[index];
  for (const NumberedKey& entry : entries) {
    if (2 * partition.used >= partition.slots.size()) [[unlikely]]
      grow(partition);
    Slot* const slots = partition.slots.data();
    const std::size_t mask = partition.slots.size() - 1;
    std::size_t at = slot_of(hash(entry.key), mask + 1);
    while (slots[at].round == round_ && slots[at].key != entry.key) at = (at + 1) & mask;
    if (slots[at].round != round_) {
      slots[at] = {entry.key, entry.item, round_};
      ++partition.used;
    }
    first[entry.item] = slots[at].item;
  }
}

std::optional<std::uint32_t> NodeNumbering::find(std::uint64_t key) const {
  const Partition& partition = partitions_[partition_of(key)];
  if (partition.slots.empty()) return std::nullopt;
  const std::size_t mask = partition.slots.size() - 1;
  std::size_t at = slot_of(hash(key), mask + 1);
  while (partition.slots[at].round == round_) {
    if (partition.slots[at].key == key) return partition.slots[at].item;
    at = (at + 1) & mask;
  }
  return std::nullopt;
}

std::size_t NodeNumbering::bytes() const {
  std::size_t sum = 0;
  for (const Partition& partition : partitions_) sum += partition.slots.bytes();
  return sum;
}

}  // namespace graphmount
