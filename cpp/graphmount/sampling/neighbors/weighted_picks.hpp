// Picks of a neighbor list in proportion to the weights.
//
// With replacement, each pick takes one draw and one look into the alias table of the list. Without
// replacement, the next pick is in proportion to the weights of the entries that are left, as if
// entries were taken out of the list one after the other. Drawing with replacement and leaving out
// repeated entries does just that. If few entries have most of the weight, this would take long; so
// after some draws the rest is picked by exponential keys (Efraimidis and Spirakis), in O(length of
// the list). Repeated draws say nothing about the next new entry, so the switch does not change the
// distribution.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graphmount/base/random.hpp"
#include "graphmount/base/read_once.hpp"
#include "graphmount/graph/alias_table.hpp"

namespace graphmount {

/// Memory to use again and again.
struct WeightedScratch {
  std::vector<std::uint32_t> picked;                    // places, and then sorted
  std::vector<std::pair<double, std::uint64_t>> keyed;  // places by their exponential keys
  std::vector<double> sums;
};

/// One place, by the alias table of a list that has a positive weight.
inline std::uint64_t pick_by_alias(std::uint64_t bits, std::span<const std::uint64_t> alias) {
  const std::uint64_t place = scale_bits(bits, alias.size());
  return pick_by_alias(read_once(&alias[place]), place, static_cast<std::uint32_t>(bits));
}

/// How many of the weights are positive, but not more than `most`, which is where looking ends.
inline std::uint64_t count_positive(std::span<const float> weights, std::uint64_t most) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < weights.size() && count < most; ++i) count += weights[i] > 0 ? 1 : 0;
  return count;
}

/// Calls put(i, place) for i = first … k - 1 with distinct places, none of which is among the
/// sorted `excluded`. Returns k, or less if not so many of the others have positive weights.
template <class Put>
std::uint64_t pick_by_keys(Draws& draws, std::span<const float> weights,
                           std::span<const std::uint32_t> excluded, std::uint64_t first,
                           std::uint64_t k, WeightedScratch& scratch, Put& put) {
  auto& keyed = scratch.keyed;
  keyed.clear();
  auto skip = excluded.begin();
  for (std::uint64_t place = 0; place < weights.size(); ++place) {
    if (skip != excluded.end() && *skip == place) {
      ++skip;
    } else if (const float weight = read_once(&weights[place]); weight > 0) {
      // 1 - unit is never 0, which has no logarithm.
      keyed.emplace_back(-std::log(1.0 - draws.unit()) / static_cast<double>(weight), place);
    }
  }
  const std::uint64_t wanted = std::min<std::uint64_t>(k - first, keyed.size());
  std::partial_sort(keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(wanted),
                    keyed.end());
  for (std::uint64_t i = 0; i < wanted; ++i) put(first + i, keyed[i].second);
  return first + wanted;
}

inline constexpr std::uint64_t kDrawsPerPick = 4;

/// Whether `pick_distinct_weighted` begins with draws by the alias table of a list.
constexpr bool draws_by_alias(std::uint64_t length, std::uint64_t k) {
  return length / kDrawsPerPick > k;
}

/// Calls put(i, place) for i = 0 … k - 1 with distinct places. Returns k, or less if not so many
/// weights are positive. The alias table may be empty where there is none for just these weights.
template <class Put>
std::uint64_t pick_distinct_weighted(Draws& draws, std::span<const float> weights,
                                     std::span<const std::uint64_t> alias, std::uint64_t k,
                                     WeightedScratch& scratch, Put put) {
  auto& picked = scratch.picked;
  picked.clear();
  if (draws_by_alias(alias.size(), k)) {
    for (std::uint64_t tries = kDrawsPerPick * k; tries > 0 && picked.size() < k; --tries) {
      const auto place = static_cast<std::uint32_t>(pick_by_alias(draws.bits(), alias));
      const auto at = std::lower_bound(picked.begin(), picked.end(), place);
      if (at != picked.end() && *at == place) continue;
      put(picked.size(), place);
      picked.insert(at, place);
    }
  }
  if (picked.size() == k) return k;
  return pick_by_keys(draws, weights, picked, picked.size(), k, scratch, put);
}

/// Calls put(i, place) for i = 0 … k - 1, with replacement, for weights that have no alias table.
/// At least one of them must be positive.
template <class Put>
void pick_by_sums(Draws& draws, std::span<const float> weights, std::uint64_t k,
                  WeightedScratch& scratch, Put put) {
  auto& sums = scratch.sums;
  sums.clear();
  double sum = 0;
  for (const float weight : weights) sums.push_back(sum += static_cast<double>(weight));
  for (std::uint64_t i = 0; i < k; ++i) {
    // The first sum that is larger: never an entry of weight 0, whose sum is that of the one
    // before.
    const auto at = std::upper_bound(sums.begin(), sums.end(), draws.unit() * sum);
    // The product may be rounded up to the sum.
    const auto place = at == sums.end() ? std::lower_bound(sums.begin(), sums.end(), sum) : at;
    put(i, static_cast<std::uint64_t>(place - sums.begin()));
  }
}

}  // namespace graphmount
