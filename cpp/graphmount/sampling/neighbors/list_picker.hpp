// Picks from the neighbor lists of a graph, by one rule for all nodes: how many, with or without
// replacement, by weight or not, and up to which time.
//
// For each node, `eligible` says which part of its list can be picked from, `count` how many picks
// there will be, and `pick` returns their positions. The number of picks needs only the first two,
// so all results of a batch can have their places before any is picked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graphmount/base/error.hpp"
#include "graphmount/graph/list_view.hpp"
#include "graphmount/sampling/neighbors/distinct_picks.hpp"
#include "graphmount/sampling/neighbors/weighted_picks.hpp"

namespace graphmount {

/// How many neighbors a fanout asks for if it asks for all.
inline constexpr std::uint64_t kAllNeighbors = UINT64_MAX;

struct PickRule {
  bool replace = false;
  bool weighted = false;
  bool temporal = false;   // only what is not later than a given time
  bool take_last = false;  // of that, the latest, not any
};

/// Memory for picks, one for each thread.
struct PickScratch {
  std::vector<std::uint64_t> places;
  WeightedScratch weighted;
};

template <class Index>
class ListPicker {
 public:
  /// Throws MissingDataError if the file lacks what the rule needs.
  ListPicker(const ListView<Index>& lists, PickRule rule)
      : lists_(lists),
        rule_(rule),
        weights_(lists.template section<float>(SectionKind::kWeights)),
        alias_(lists.template section<std::uint64_t>(SectionKind::kAlias)),
        times_(lists.template section<std::int64_t>(SectionKind::kTimestamps)) {
    const std::string& path = lists.graph().mount().file().path();
    if (rule.weighted && weights_ == nullptr)
      throw MissingDataError(path,
                             "the graph has no weights to pick by; compile it with weights=, or "
                             "pick with weighted=False");
    if (rule.temporal && times_ == nullptr)
      throw MissingDataError(path,
                             "the edges have no timestamps to compare the time with; compile the "
                             "graph with timestamps=, or sample without time=");
  }

  const ListView<Index>& lists() const { return lists_; }
  const PickRule& rule() const { return rule_; }

  /// The part of a node's list that can be picked from: all of it, or what is not later than
  /// `time`.
  ListRange eligible(NodeId node, std::int64_t time) const {
    ListRange range = lists_.range(node);
    if (rule_.temporal)
      range.end = std::upper_bound(times_ + range.begin, times_ + range.end, time) - times_;
    return range;
  }

  /// How many picks there will be if `k` are asked for.
  std::uint64_t count(ListRange range, std::uint64_t k) const {
    const auto length = static_cast<std::uint64_t>(range.end - range.begin);
    if (!rule_.weighted)
      return rule_.replace && k != kAllNeighbors && length != 0 ? k : std::min(length, k);
    if (rule_.replace && k != kAllNeighbors) return has_positive(range) ? k : 0;
    return count_positive(weights(range), k);
  }

  /// Calls visit(section, begin, end) for what `eligible` and `count` will look at beside offsets.
  template <class Visit>
  void visit_counted(NodeId node, std::uint64_t k, const Visit& visit) const {
    // A long list is searched or looked at from its beginning: most of it is not needed.
    constexpr EdgeId kShortList = 4096;
    const ListRange range = lists_.range(node);
    const EdgeId length = range.end - range.begin;
    if (rule_.temporal && length <= kShortList)
      visit(SectionKind::kTimestamps, range.begin, range.end);
    if (rule_.weighted && rule_.replace && !rule_.temporal)
      visit(SectionKind::kAlias, range.begin, range.begin + (length > 0 ? 1 : 0));
    else if (rule_.weighted)
      visit(SectionKind::kWeights, range.begin,
            range.begin + static_cast<EdgeId>(std::min(static_cast<std::uint64_t>(length), k)));
  }

  /// Calls visit(section, begin, end) for what `pick` will look at beside the offsets, as far as
  /// the first draws tell.
  template <class Visit>
  void visit_picked(NodeId node, ListRange range, std::uint64_t count, std::uint64_t k, Draws draws,
                    const Visit& visit) const {
    if (!rule_.weighted || count == 0 || k == kAllNeighbors) return;
    const auto alias = alias_of_list(node, range);
    if (alias.empty() || (!rule_.replace && !draws_by_alias(alias.size(), count)))
      return visit(SectionKind::kWeights, range.begin, range.end);
    for (std::uint64_t i = 0; i < count; ++i) {
      const EdgeId position = range.begin + static_cast<EdgeId>(draws.below(alias.size()));
      visit(SectionKind::kAlias, position, position + 1);
    }
  }

  /// Writes the positions of `count` picks, as many as `count` has said.
  void pick(NodeId node, ListRange range, std::uint64_t count, std::uint64_t k, Draws draws,
            PickScratch& scratch, EdgeId* out) const {
    const auto put = [&](std::uint64_t i, std::uint64_t place) {
      out[i] = range.begin + static_cast<EdgeId>(place);
    };
    const auto length = static_cast<std::uint64_t>(range.end - range.begin);
    if (count == 0) return;
    if (rule_.replace && k != kAllNeighbors) {
      if (!rule_.weighted) {
        for (std::uint64_t i = 0; i < count; ++i) put(i, draws.below(length));
      } else if (const auto alias = alias_of_list(node, range); !alias.empty()) {
        for (std::uint64_t i = 0; i < count; ++i) {
          const std::uint64_t place = pick_by_alias(draws.bits(), alias);
          if (place >= length) [[unlikely]]
            refuse_alias(node);
          put(i, place);
        }
      } else {
        pick_by_sums(draws, weights(range), count, scratch.weighted, put);
      }
    } else if (rule_.take_last && !rule_.weighted) {
      for (std::uint64_t i = 0; i < count; ++i) put(i, length - count + i);
    } else if (count == length) {
      for (std::uint64_t i = 0; i < count; ++i) put(i, i);
    } else if (!rule_.weighted) {
      pick_distinct(draws, length, count, scratch.places, put);
    } else {
      const std::uint64_t picked =
          pick_distinct_weighted(draws, weights(range), alias_of_list(node, range), count,
                                 scratch.weighted, [&](std::uint64_t i, std::uint64_t place) {
                                   if (place >= length) [[unlikely]]
                                     refuse_alias(node);
                                   put(i, place);
                                 });
      if (picked != count) [[unlikely]]
        refuse_weights(node);
    }
  }

 private:
  std::span<const float> weights(ListRange range) const {
    return {weights_ + range.begin, static_cast<std::size_t>(range.end - range.begin)};
  }

  /// Whether anything can be picked. The table of a whole list says so in its first entry.
  bool has_positive(ListRange range) const {
    if (range.begin == range.end) return false;
    return rule_.temporal ? count_positive(weights(range), 1) != 0 : alias_[range.begin] != kNoPick;
  }

  /// The alias table of a list, if all of it can be picked from.
  std::span<const std::uint64_t> alias_of_list(NodeId node, ListRange range) const {
    if (range.end != lists_.indptr()[node + 1]) return {};
    return {alias_ + range.begin, static_cast<std::size_t>(range.end - range.begin)};
  }

  [[noreturn]] void refuse_alias(NodeId node) const {
    lists_.graph().refuse(say("the alias table of node ", node, " leads out of its list"));
  }

  [[noreturn]] void refuse_weights(NodeId node) const {
    throw FileChangedError(lists_.graph().mount().file().path(),
                           say("the weights of node ", node,
                               " changed while they were read; do not write to mounted files"));
  }

  ListView<Index> lists_;
  PickRule rule_;
  const float* weights_;
  const std::uint64_t* alias_;
  const std::int64_t* times_;
};

}  // namespace graphmount
