// Picks among the neighbors that are not later than the time of the node's tree, by the times of
// these neighbors themselves.
//
// Lists are not sorted by the times of neighbors. So entries are drawn from the whole list, and
// those that are too late are left out, which draws each entry that is early enough with the same
// probability as if only those were there. Where that takes too long, because few are early enough,
// and for short lists, the list is filtered and the rest is picked from what remains. Entries that
// were left out say nothing about the next pick, so the switch does not change the distribution.
//
// What a node draws depends on its list, its time and its draws, never on which other nodes draw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/fetch.hpp"
#include "graphmount/graph/list_view.hpp"
#include "graphmount/sampling/neighbors/list_picker.hpp"

namespace graphmount {

/// An entry of a list: its neighbor's time, and its position.
struct DatedEntry {
  std::int64_t time;
  EdgeId position;

  auto operator<=>(const DatedEntry&) const = default;
};

/// Memory for picks, one for each thread.
struct EarlyScratch {
  std::vector<DatedEntry> entries;
  std::vector<EdgeId> sorted;  // picks so far
  std::vector<float> weights;
  PickScratch pick;
};

template <class Index>
class EarlyPicker {
 public:
  /// Lists that are longer than this are not filtered for one node alone.
  static constexpr EdgeId kLongList = 2048;

  /// `times` has one for each node that a neighbor can be.
  EarlyPicker(const ListView<Index>& lists, PickRule rule, const std::int64_t* times)
      : lists_(lists),
        rule_(rule),
        times_(times),
        weights_(lists.template section<float>(SectionKind::kWeights)),
        alias_(lists.template section<std::uint64_t>(SectionKind::kAlias)) {}

  const ListView<Index>& lists() const { return lists_; }
  bool takes_last() const { return rule_.take_last; }

  /// Adds the positions of the picks of a node to `out`. Returns false if the list is long and has
  /// to be filtered: what was added by then, and `draws`, are where `pick_from` is to go on.
  bool pick(ListRange range, std::int64_t time, std::uint64_t k, Draws& draws,
            EarlyScratch& scratch, std::vector<EdgeId>& out) const {
    const auto length = static_cast<std::uint64_t>(range.end - range.begin);
    if (length == 0 || k == 0) return true;
    const std::size_t first = out.size();
    if (!rule_.take_last && length / kTriesPart > k) {
      if (rule_.weighted && read_once(alias_ + range.begin) == kNoPick) return true;
      try_draws(range, time, k, draws, scratch, out);
      if (out.size() - first == k) return true;
    }
    if (range.end - range.begin > kLongList) return false;
    find_early(range, time, scratch.entries);
    pick_from(scratch.entries, k, first, draws, scratch, out);
    return true;
  }

  /// Fills `entries` with those of a list that are not later than `time`, by position.
  void find_early(ListRange range, std::int64_t time, std::vector<DatedEntry>& entries) const {
    entries.clear();
    NodeId nodes[kBlock];
    for (EdgeId begin = range.begin; begin < range.end; begin += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<EdgeId>(kBlock, range.end - begin));
      for (std::size_t i = 0; i < count; ++i) {
        nodes[i] = lists_.neighbor(begin + static_cast<EdgeId>(i));
        fetch_line(times_ + nodes[i]);
      }
      for (std::size_t i = 0; i < count; ++i)
        if (const std::int64_t own = read_once(times_ + nodes[i]); own <= time)
          entries.push_back({own, begin + static_cast<EdgeId>(i)});
    }
  }

  /// Adds picks to `out`, where those of this node begin at `first`, until there are `k` of them or
  /// all of `entries`, which are those that are early enough. Their order changes.
  void pick_from(std::span<DatedEntry> entries, std::uint64_t k, std::size_t first, Draws& draws,
                 EarlyScratch& scratch, std::vector<EdgeId>& out) const {
    if (rule_.take_last) return take_last(entries, k, out);
    const bool is_replacing = rule_.replace && k != kAllNeighbors;
    if (!is_replacing) entries = without_picked(entries, {out.begin() + first, out.end()}, scratch);
    const std::uint64_t num_picked = out.size() - first;
    const auto put = [&](std::uint64_t, std::uint64_t place) {
      out.push_back(entries[place].position);
    };
    if (rule_.weighted)
      return pick_weighted(entries, k - num_picked, is_replacing, draws, scratch, put);
    if (is_replacing) {
      for (std::uint64_t i = num_picked; i < k && !entries.empty(); ++i)
        put(i, draws.below(entries.size()));
    } else if (entries.size() <= k - num_picked) {
      for (std::uint64_t place = 0; place < entries.size(); ++place) put(place, place);
    } else {
      pick_distinct(draws, entries.size(), k - num_picked, scratch.pick.places, put);
    }
  }

 private:
  static constexpr EdgeId kBlock = 64;
  /// A part of the length of a list: so many draws cost less than to filter all of it.
  static constexpr std::uint64_t kTriesPart = 4;

  bool is_early(EdgeId position, std::int64_t time) const {
    return read_once(times_ + lists_.neighbor(position)) <= time;
  }

  /// Draws from the whole list, until there are `k` picks or it takes too long.
  void try_draws(ListRange range, std::int64_t time, std::uint64_t k, Draws& draws,
                 EarlyScratch& scratch, std::vector<EdgeId>& out) const {
    const auto length = static_cast<std::uint64_t>(range.end - range.begin);
    const std::size_t first = out.size();
    auto& sorted = scratch.sorted;
    sorted.clear();
    EdgeId drawn[kBlock];
    for (std::uint64_t tries = length / kTriesPart; tries > 0;) {
      // Some at a time: their entries, and then the times of these, are on their way together.
      const std::uint64_t missing = k - (out.size() - first);
      const auto count = std::min<std::uint64_t>({tries, missing + missing / 4 + 1, kBlock});
      for (std::uint64_t i = 0; i < count; ++i) {
        drawn[i] = range.begin + static_cast<EdgeId>(draw_place(range, length, draws));
        lists_.prefetch_neighbor(drawn[i]);
      }
      for (std::uint64_t i = 0; i < count; ++i) fetch_line(times_ + lists_.neighbor(drawn[i]));
      for (std::uint64_t i = 0; i < count; ++i) {
        if (!is_early(drawn[i], time)) continue;
        if (!rule_.replace) {
          const auto at = std::lower_bound(sorted.begin(), sorted.end(), drawn[i]);
          if (at != sorted.end() && *at == drawn[i]) continue;
          sorted.insert(at, drawn[i]);
        }
        out.push_back(drawn[i]);
        if (out.size() - first == k) return;
      }
      tries -= count;
    }
  }

  std::uint64_t draw_place(ListRange range, std::uint64_t length, Draws& draws) const {
    if (!rule_.weighted) return draws.below(length);
    const std::uint64_t place = pick_by_alias(draws.bits(), {alias_ + range.begin, length});
    if (place >= length) [[unlikely]]
      lists_.graph().refuse(
          say("the alias table of the list at position ", range.begin, " leads out of it"));
    return place;
  }

  /// The entries that were not picked before, in their order.
  std::span<DatedEntry> without_picked(std::span<DatedEntry> entries,
                                       std::span<const EdgeId> picked,
                                       EarlyScratch& scratch) const {
    if (picked.empty()) return entries;
    auto& sorted = scratch.sorted;
    sorted.assign(picked.begin(), picked.end());
    std::sort(sorted.begin(), sorted.end());
    const auto end = std::remove_if(entries.begin(), entries.end(), [&](const DatedEntry& entry) {
      return std::binary_search(sorted.begin(), sorted.end(), entry.position);
    });
    return {entries.begin(), end};
  }

  /// The latest `k`, the latest last; of equal times, those that come last in the list.
  void take_last(std::span<DatedEntry> entries, std::uint64_t k, std::vector<EdgeId>& out) const {
    const std::size_t count = std::min<std::uint64_t>(k, entries.size());
    const auto begin = entries.end() - static_cast<std::ptrdiff_t>(count);
    if (count < entries.size()) std::nth_element(entries.begin(), begin, entries.end());
    std::sort(begin, entries.end());
    for (auto at = begin; at != entries.end(); ++at) out.push_back(at->position);
  }

  template <class Put>
  void pick_weighted(std::span<const DatedEntry> entries, std::uint64_t count, bool is_replacing,
                     Draws& draws, EarlyScratch& scratch, Put& put) const {
    auto& weights = scratch.weights;
    weights.clear();
    bool is_any_positive = false;
    for (const DatedEntry& entry : entries) {
      weights.push_back(read_once(weights_ + entry.position));
      is_any_positive = is_any_positive || weights.back() > 0;
    }
    if (!is_any_positive || count == 0) return;
    if (is_replacing)
      pick_by_sums(draws, weights, count, scratch.pick.weighted, put);
    else
      pick_by_keys(draws, weights, {}, 0, count, scratch.pick.weighted, put);
  }

  ListView<Index> lists_;
  PickRule rule_;
  const std::int64_t* times_;
  const float* weights_;
  const std::uint64_t* alias_;
};

}  // namespace graphmount
