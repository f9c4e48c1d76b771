// Some of many places, all different, each set of them as likely as any other: the picks of a
// neighbor list without replacement. Costs O(k) for k picks, however long the list is.
//
// The order of the picks is random too, so that the first few of them are a sample like any other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "graphmount/base/random.hpp"

namespace graphmount {

namespace detail {

/// By shuffling the beginning of all places: for when most of them are picked.
template <class Put>
void pick_by_shuffle(Draws& draws, std::uint64_t count, std::uint64_t k, std::uint64_t* places,
                     Put& put) {
  std::iota(places, places + count, std::uint64_t{0});
  for (std::uint64_t i = 0; i < k; ++i) {
    const std::uint64_t other = i + draws.below(count - i);
    std::swap(places[i], places[other]);
    put(i, places[i]);
  }
}

/// Up to `kMost` of less than 2^32: a pick that was there before is drawn again. All are compared
/// at once, in the half of the width that vectors have room for twice as many of.
template <std::size_t kMost, class Put>
void pick_few(Draws& draws, std::uint64_t count, std::uint64_t k, Put& put) {
  std::uint32_t picked[kMost];
  std::fill(std::begin(picked), std::end(picked), UINT32_MAX);
  for (std::uint64_t i = 0; i < k;) {
    const auto place = static_cast<std::uint32_t>(draws.below(count));
    std::uint32_t is_there = 0;
    for (const std::uint32_t other : picked) is_there |= other == place ? 1 : 0;
    if (is_there != 0) continue;
    picked[i] = place;
    put(i++, place);
  }
}

/// As `pick_few`, with a hash table for what was picked.
template <class Put>
void pick_many(Draws& draws, std::uint64_t count, std::uint64_t k,
               std::vector<std::uint64_t>& table, Put& put) {
  const std::uint64_t num_slots = std::bit_ceil(2 * k);
  table.assign(num_slots, ~std::uint64_t{0});
  for (std::uint64_t i = 0; i < k;) {
    const std::uint64_t place = draws.below(count);
    std::uint64_t slot = mix_bits(place) & (num_slots - 1);
    while (table[slot] != ~std::uint64_t{0} && table[slot] != place)
      slot = (slot + 1) & (num_slots - 1);
    if (table[slot] == place) continue;
    table[slot] = place;
    put(i++, place);
  }
}

}  // namespace detail

/// Calls put(i, place) for i = 0 … k - 1 with distinct places below `count`, where k <= count.
/// `scratch` is memory to use again and again.
template <class Put>
void pick_distinct(Draws& draws, std::uint64_t count, std::uint64_t k,
                   std::vector<std::uint64_t>& scratch, Put put) {
  constexpr std::uint64_t kShortList = 48;
  if (2 * k > count) {
    if (count <= kShortList) {
      std::uint64_t places[kShortList];
      return detail::pick_by_shuffle(draws, count, k, places, put);
    }
    scratch.resize(count);
    return detail::pick_by_shuffle(draws, count, k, scratch.data(), put);
  }
  if (count < UINT32_MAX && k <= 8) return detail::pick_few<8>(draws, count, k, put);
  if (count < UINT32_MAX && k <= 16) return detail::pick_few<16>(draws, count, k, put);
  detail::pick_many(draws, count, k, scratch, put);
}

}  // namespace graphmount
