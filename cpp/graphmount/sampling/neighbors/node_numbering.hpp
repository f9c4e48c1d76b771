// Finds equal keys, and the first of each. This is how the nodes of a sample get their numbers, in
// parallel and still in the order in which one thread would meet them.
//
// Keys are split into partitions by their hashes. Each partition has a hash table of its own, small
// enough for a processor's own cache, and is the work of one thread at a time, which gets its
// entries in order. So nothing is locked, and the first of several equal keys is the first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// A key, and its place in the order of all.
struct NumberedKey {
  std::uint64_t key;
  std::uint32_t item;
};

class NodeNumbering {
 public:
  static constexpr std::size_t kPartitions = 32;

  static std::size_t partition_of(std::uint64_t key) { return hash(key) >> 59; }

  /// Forgets all keys, and keeps the memory.
  void clear();

  /// Puts into first[entry.item] the item of the first entry with the same key, of all that this
  /// partition has been given. All entries are of this partition, and come in the order of their
  /// items. Different partitions may be used at the same time.
  void number(std::size_t partition, std::span<const NumberedKey> entries, std::uint32_t* first);

  /// The first item with this key.
  std::optional<std::uint32_t> find(std::uint64_t key) const;

  std::size_t bytes() const;

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t item;
    std::uint32_t round;  // it is empty unless this is the current one
  };
  struct Partition {
    Buffer<Slot> slots;
    std::size_t used = 0;
  };

  static std::uint64_t hash(std::uint64_t key) {
    const std::uint64_t mixed = key * 0x9E3779B97F4A7C15;
    return (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93;
  }
  static std::size_t slot_of(std::uint64_t hash, std::size_t num_slots) {
    return (hash >> 16) & (num_slots - 1);
  }
  void grow(Partition& partition) const;

  std::array<Partition, kPartitions> partitions_;
  std::uint32_t round_ = 0;
};

}  // namespace graphmount
