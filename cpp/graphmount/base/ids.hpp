// The checks that every call with ids makes before it follows them.
//
// Ids of a caller may change while a call runs, if another thread of the caller writes to the
// array. The value that is checked must be the value that is followed. So a call copies the ids,
// all or some at a time (`for_each_id_in_blocks`), and checks the copy; or it reads each with
// `read_id` when it is needed, as `for_each_id` does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "graphmount/base/fetch.hpp"
#include "graphmount/base/read_once.hpp"

namespace graphmount {

/// Throws IdError, naming the first bad entry, unless all ids are in [0, count). `what` is the word
/// for one id: "node" or "row".
void require_ids(std::span<const std::int64_t> ids, std::uint64_t count, const std::string& what);

/// Whether all ids are in [0, count), for a count below 2^63.
bool are_in_range(std::span<const std::int64_t> ids, std::uint64_t count);

/// Throws the IdError for ids of which one is not in [0, count): for the first of them, or, if the
/// array is good by now, for the one that was met.
[[noreturn]] void refuse_id(std::span<const std::int64_t> ids, std::int64_t id, std::uint64_t count,
                            const char* what);

/// The id at a place, read once and checked. Throws IdError as `require_ids` does, whatever thread
/// comes upon it first.
inline std::int64_t read_id(std::span<const std::int64_t> ids, std::size_t place,
                            std::uint64_t count, const char* what) {
  const std::int64_t id = read_once(ids.data() + place);
  if (static_cast<std::uint64_t>(id) >= count) [[unlikely]]
    refuse_id(ids, id, count, what);
  return id;
}

/// Calls use(place, id) for the places [begin, end), in order, with ids that were read once and
/// checked, and fetch(id) `ahead` places before: for the line that is to be in the cache by then.
/// Throws IdError as `read_id` does.
template <class Use, class Fetch>
void for_each_id(std::span<const std::int64_t> ids, std::size_t begin, std::size_t end,
                 std::uint64_t count, const char* what, const Use& use, const Fetch& fetch,
                 std::size_t ahead = kFetchedLines) {
  // Nothing is followed here: the id is read and checked again when it is used.
  const auto fetch_at = [&](std::size_t place) {
    const std::int64_t id = read_once(ids.data() + place);
    if (static_cast<std::uint64_t>(id) < count) [[likely]]
      fetch(id);
  };
  // One at a time, each with one that is used: a burst of them would wait for places.
  const std::size_t fetched = begin + std::min(ahead, end - begin);
  for (std::size_t place = begin; place < fetched; ++place) fetch_at(place);
  for (std::size_t place = begin; place < end; ++place) {
    if (end - place > ahead) fetch_at(place + ahead);
    use(place, read_id(ids, place, count, what));
  }
}

/// The same with copies of the ids that were checked, for what has many lines that follow each
/// other: they are fetched up to two blocks before, a block at a time, which has 128 ids at most.
template <class Use, class Fetch>
void for_each_id_in_blocks(std::span<const std::int64_t> ids, std::size_t begin, std::size_t end,
                           std::uint64_t count, const char* what, const Use& use,
                           const Fetch& fetch, std::size_t block) {
  std::array<std::array<std::int64_t, kFetchedLines>, 2> copies;
  block = std::clamp<std::size_t>(block, 1, kFetchedLines);
  const auto fetch_block = [&](std::size_t first) {
    auto& copy = copies[(first - begin) / block % 2];
    const std::size_t size = std::min(block, end - first);
    std::memcpy(copy.data(), ids.data() + first, size * sizeof(std::int64_t));
    if (!are_in_range({copy.data(), size}, count)) [[unlikely]]
      for (std::size_t i = 0; i < size; ++i)
        if (static_cast<std::uint64_t>(copy[i]) >= count) refuse_id(ids, copy[i], count, what);
    for (std::size_t i = 0; i < size; ++i) fetch(copy[i]);
  };
  if (begin < end) fetch_block(begin);
  for (std::size_t first = begin; first < end; first += block) {
    if (end - first > block) fetch_block(first + block);
    const auto& copy = copies[(first - begin) / block % 2];
    const std::size_t size = std::min(block, end - first);
    for (std::size_t i = 0; i < size; ++i) use(first + i, copy[i]);
  }
}

}  // namespace graphmount
