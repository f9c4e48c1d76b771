// Numbers the keys of a source, integers or strings, in the order in which they first appear.
//
// The map is one hash table over the keys, which lie one after the other in the order of their
// numbers, as a file wants them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "graphmount/base/fetch.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/graph/ids/external_ids.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// The hash table of keys that are numbered one after the other and kept elsewhere. A slot holds a
/// number plus one, below 32 bits of the key's hash; 0 is an empty slot.
class IdTable {
 public:
  /// `num_slots` is a power of two.
  explicit IdTable(std::size_t num_slots = 1 << 10);
  std::uint64_t bytes() const { return slots_.bytes(); }

  void prefetch(std::uint64_t hash) const { fetch_line(&slots_[place(hash)]); }
  /// The number of the key with this hash for which is_key(number) holds; -1 if there is none.
  template <class IsKey>
  NodeId find(std::uint64_t hash, const IsKey& is_key) const {
    for (std::size_t i = place(hash);; i = (i + 1) & (slots_.size() - 1)) {
      const std::uint64_t slot = slots_[i];
      if (slot == 0) return -1;
      const auto number = static_cast<NodeId>((slot & 0xFFFF'FFFF) - 1);
      if ((slot ^ hash) >> 32 == 0 && is_key(number)) return number;
    }
  }
  /// Makes room for one more key; hash_of gives the hashes of the `count` keys there are.
  template <class HashOf>
  void reserve_one(std::uint64_t count, const HashOf& hash_of) {
    if (has_room(count)) return;
    // The old slots stay until the new ones are filled, which may be interrupted.
    IdTable larger(slots_.size() * 2);
    interruptible_for(count, [&](std::uint64_t number) {
      larger.insert(hash_of(number), static_cast<NodeId>(number));
    });
    *this = std::move(larger);
  }
  /// A key that is not there yet.
  void insert(std::uint64_t hash, NodeId number);
  /// Forgets all keys, and keeps the memory.
  void clear();

 private:
  std::size_t place(std::uint64_t hash) const {
    return static_cast<std::size_t>(hash) & (slots_.size() - 1);
  }
  /// Throws BudgetError beyond the numbers a slot can hold.
  bool has_room(std::uint64_t count) const;

  Buffer<std::uint64_t> slots_;
};

/// Integers as keys, in the order of their numbers.
class NumberKeys {
 public:
  using Key = std::int64_t;
  using Column = std::span<const std::int64_t>;

  static std::uint64_t hash(Key key) { return hash_number(key); }
  Column column() const { return keys_.span(); }
  void push_back(Key key);
  std::uint64_t bytes() const { return keys_.bytes(); }

 private:
  Buffer<std::int64_t> keys_;
};

/// The same for strings.
class NameKeys {
 public:
  using Key = std::string_view;
  using Column = NameColumn;

  NameKeys();
  static std::uint64_t hash(Key key) { return hash_name(key); }
  Column column() const { return {offsets_.span(), characters_.span()}; }
  void push_back(Key key);
  std::uint64_t bytes() const { return offsets_.bytes() + characters_.bytes(); }

 private:
  Buffer<std::int64_t> offsets_;
  Buffer<char> characters_;
};

template <class Keys>
class IdMap {
 public:
  using Column = typename Keys::Column;

  /// The numbers of two columns of keys. Those not met before get the next numbers, row by row: the
  /// first key of a row, then its second.
  void add(const Column& first, const Column& second, std::span<NodeId> first_out,
           std::span<NodeId> second_out);
  /// The number of each key, or -1.
  void find(const Column& keys, std::span<NodeId> out) const;
  Column keys() const { return keys_.column(); }
  std::uint64_t bytes() const { return table_.bytes() + keys_.bytes(); }

 private:
  using Key = typename Keys::Key;

  NodeId find_one(Key key, std::uint64_t hash) const;
  NodeId add_one(Key key);

  IdTable table_;
  Keys keys_;
};

using NumberMap = IdMap<NumberKeys>;
using NameMap = IdMap<NameKeys>;

}  // namespace graphmount
