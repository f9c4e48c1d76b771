// A hash table that finds the first of equal keys, and forgets all of them at no cost. This is how
// the nodes of a sample get their numbers. Memory is kept for the next round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "graphmount/base/fetch.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// A key, and the number that it gets if it is the first of its kind.
struct NumberedKey {
  std::uint64_t key;
  std::uint32_t number;
};

class KeyTable {
 public:
  /// Forgets all keys, and keeps the memory.
  void clear();

  /// The number of the first entry with the same key since `clear`, which may be this one.
  std::uint32_t number_of(const NumberedKey& entry) {
    if (2 * used_ >= slots_.size()) [[unlikely]]
      grow();
    Slot* const slots = slots_.data();
    for (std::size_t at = place_of(entry.key);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots[at].round != round_) {
        slots[at] = {entry.key, entry.number, round_};
        ++used_;
        return entry.number;
      }
      if (slots[at].key == entry.key) return slots[at].number;
    }
  }

  /// Fetches what `number_of` will look at. Of a table without slots, nothing is read.
  void prefetch(std::uint64_t key) const { fetch_line(slots_.data() + place_of(key)); }

  /// The number of this key, if it has been there.
  std::optional<std::uint32_t> find(std::uint64_t key) const;

  std::size_t bytes() const { return slots_.bytes(); }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t number;
    std::uint32_t round;  // it is empty unless this is the current one
  };

  /// The first slot to look at, of a power of two.
  std::size_t place_of(std::uint64_t key) const {
    const std::uint64_t mixed = key * 0x9E3779B97F4A7C15;
    const std::uint64_t hash = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93;
    return (hash >> 16) & (slots_.size() - 1);
  }
  void grow();

  Buffer<Slot> slots_;
  std::size_t used_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace graphmount
