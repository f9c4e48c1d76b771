#include "graphmount/graph/ids/id_map.hpp"

#include <algorithm>
#include <array>

#include "graphmount/base/error.hpp"
#include "graphmount/graph/ids/id_hash.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::int64_t kGrain = 1 << 14;
// Looking up a key waits for memory; this many are asked for before the first is waited for.
constexpr std::size_t kAhead = 16;

// out[i] = find(i, hash_of(i)) for all i, in parallel.
template <class HashOf, class Find>
void find_all(const IdTable& table, std::size_t count, std::span<NodeId> out, const HashOf& hash_of,
              const Find& find) {
  parallel_for(static_cast<std::int64_t>(count), kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint64_t, kAhead> hashes;
    for (auto first = static_cast<std::size_t>(begin); first < static_cast<std::size_t>(end);
         first += kAhead) {
      const std::size_t some = std::min(kAhead, static_cast<std::size_t>(end) - first);
      for (std::size_t i = 0; i < some; ++i) {
        hashes[i] = hash_of(first + i);
        table.prefetch(hashes[i]);
      }
      for (std::size_t i = 0; i < some; ++i) out[first + i] = find(first + i, hashes[i]);
    }
  });
}

// Keys that were there already, which soon are most, have been found in parallel. New ones get
// their numbers one after the other, row by row, so that these do not depend on how rows are
// batched.
template <class AddFirst, class AddSecond>
void add_missing(std::span<NodeId> first, std::span<NodeId> second, const AddFirst& add_first,
                 const AddSecond& add_second) {
  interruptible_for(std::max(first.size(), second.size()), [&](std::size_t i) {
    if (i < first.size() && first[i] < 0) first[i] = add_first(i);
    if (i < second.size() && second[i] < 0) second[i] = add_second(i);
  });
}

}  // namespace

IdTable::IdTable(std::size_t num_slots) : slots_(num_slots) {
  std::fill_n(slots_.data(), slots_.size(), 0);
}

bool IdTable::has_room(std::uint64_t count) const {
  if (count >= UINT32_MAX - 1) throw BudgetError("more than 2^32 different ids cannot be mapped");
  return count + 1 <= slots_.size() / 4 * 3;
}

void IdTable::insert(std::uint64_t hash, NodeId number) {
  std::size_t i = place(hash);
  while (slots_[i] != 0) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = (hash & 0xFFFF'FFFF'0000'0000) | (static_cast<std::uint64_t>(number) + 1);
}

NodeId NumberMap::find_one(std::int64_t key, std::uint64_t hash) const {
  return table_.find(hash,
                     [&](NodeId number) { return keys_[static_cast<std::size_t>(number)] == key; });
}

void NumberMap::find(std::span<const std::int64_t> keys, std::span<NodeId> out) const {
  find_all(
      table_, keys.size(), out, [&](std::size_t i) { return hash_number(keys[i]); },
      [&](std::size_t i, std::uint64_t hash) { return find_one(keys[i], hash); });
}

NodeId NumberMap::add_one(std::int64_t key) {
  const std::uint64_t hash = hash_number(key);
  NodeId number = find_one(key, hash);
  if (number >= 0) return number;
  table_.reserve_one(keys_.size(), [&](std::uint64_t n) { return hash_number(keys_[n]); });
  number = static_cast<NodeId>(keys_.size());
  table_.insert(hash, number);
  keys_.grow(keys_.size() + 1);
  keys_[keys_.size() - 1] = key;
  return number;
}

void NumberMap::add(std::span<const std::int64_t> first, std::span<const std::int64_t> second,
                    std::span<NodeId> first_out, std::span<NodeId> second_out) {
  find(first, first_out);
  find(second, second_out);
  add_missing(
      first_out, second_out, [&](std::size_t i) { return add_one(first[i]); },
      [&](std::size_t i) { return add_one(second[i]); });
}

NameMap::NameMap() {
  offsets_.grow(1);
  offsets_[0] = 0;
}

NodeId NameMap::find_one(std::string_view key, std::uint64_t hash) const {
  const NameColumn names = this->keys();
  return table_.find(hash,
                     [&](NodeId number) { return names[static_cast<std::size_t>(number)] == key; });
}

void NameMap::find(const NameColumn& keys, std::span<NodeId> out) const {
  find_all(
      table_, static_cast<std::size_t>(keys.size()), out,
      [&](std::size_t i) { return hash_name(keys[i]); },
      [&](std::size_t i, std::uint64_t hash) { return find_one(keys[i], hash); });
}

NodeId NameMap::add_one(std::string_view key) {
  const std::uint64_t hash = hash_name(key);
  NodeId number = find_one(key, hash);
  if (number >= 0) return number;
  const std::size_t count = offsets_.size() - 1;
  table_.reserve_one(count, [&](std::uint64_t n) { return hash_name(this->keys()[n]); });
  number = static_cast<NodeId>(count);
  table_.insert(hash, number);
  const std::size_t used = characters_.size();
  characters_.grow(used + key.size());
  std::copy(key.begin(), key.end(), characters_.data() + used);
  offsets_.grow(count + 2);
  offsets_[count + 1] = static_cast<std::int64_t>(characters_.size());
  return number;
}

void NameMap::add(const NameColumn& first, const NameColumn& second, std::span<NodeId> first_out,
                  std::span<NodeId> second_out) {
  find(first, first_out);
  find(second, second_out);
  add_missing(
      first_out, second_out, [&](std::size_t i) { return add_one(first[i]); },
      [&](std::size_t i) { return add_one(second[i]); });
}

}  // namespace graphmount
