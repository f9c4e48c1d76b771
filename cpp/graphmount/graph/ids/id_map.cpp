#include "graphmount/graph/ids/id_map.hpp"

#include <algorithm>
#include <array>

#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kGrain = 1 << 14;
// Looking up a key waits for memory; this many are asked for before the first is waited for.
constexpr std::size_t kAhead = 16;

}  // namespace

IdTable::IdTable(std::size_t num_slots) : slots_(num_slots) {
  clear();
}

void IdTable::clear() {
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

void NumberKeys::push_back(Key key) {
  keys_.grow(keys_.size() + 1);
  keys_[keys_.size() - 1] = key;
}

NameKeys::NameKeys() {
  offsets_.grow(1);
  offsets_[0] = 0;
}

void NameKeys::push_back(Key key) {
  const std::size_t used = characters_.size();
  characters_.grow(used + key.size());
  std::copy(key.begin(), key.end(), characters_.data() + used);
  offsets_.grow(offsets_.size() + 1);
  offsets_[offsets_.size() - 1] = static_cast<std::int64_t>(characters_.size());
}

template <class Keys>
NodeId IdMap<Keys>::find_one(Key key, std::uint64_t hash) const {
  const Column known = keys();
  return table_.find(hash,
                     [&](NodeId number) { return known[static_cast<std::size_t>(number)] == key; });
}

template <class Keys>
void IdMap<Keys>::find(const Column& keys, std::span<NodeId> out) const {
  parallel_for(keys.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::array<std::uint64_t, kAhead> hashes;
    for (std::size_t first = begin; first < end; first += kAhead) {
      const std::size_t some = std::min(kAhead, end - first);
      for (std::size_t i = 0; i < some; ++i) {
        hashes[i] = Keys::hash(keys[first + i]);
        table_.prefetch(hashes[i]);
      }
      for (std::size_t i = 0; i < some; ++i) out[first + i] = find_one(keys[first + i], hashes[i]);
    }
  });
}

template <class Keys>
NodeId IdMap<Keys>::add_one(Key key) {
  const std::uint64_t hash = Keys::hash(key);
  NodeId number = find_one(key, hash);
  if (number >= 0) return number;
  const std::uint64_t count = keys().size();
  table_.reserve_one(count, [&](std::uint64_t n) { return Keys::hash(keys()[n]); });
  number = static_cast<NodeId>(count);
  table_.insert(hash, number);
  keys_.push_back(key);
  return number;
}

// Keys that were there already, which soon are most, are found in parallel. New ones get their
// numbers one after the other, row by row, so that these do not depend on how rows are batched.
template <class Keys>
void IdMap<Keys>::add(const Column& first, const Column& second, std::span<NodeId> first_out,
                      std::span<NodeId> second_out) {
  find(first, first_out);
  find(second, second_out);
  interruptible_for(std::max(first_out.size(), second_out.size()), [&](std::size_t i) {
    if (i < first_out.size() && first_out[i] < 0) first_out[i] = add_one(first[i]);
    if (i < second_out.size() && second_out[i] < 0) second_out[i] = add_one(second[i]);
  });
}

template class IdMap<NumberKeys>;
template class IdMap<NameKeys>;

}  // namespace graphmount
