// Walks of node2vec (Grover and Leskovec, 2016), whose steps depend on the one before, with exact
// probabilities and without tables: by rejection.
//
// A candidate is drawn as in a first-order walk. It weighs 1/p if it is the node before, 1 if it is
// a neighbor of the node before, and else 1/q. It is accepted with the probability of its weight
// divided by the largest of the three. The random number that decides is drawn first: mostly it
// decides without a lookup; otherwise the candidate is looked up in the list of the node before. If
// the step back weighs most, most other candidates would be rejected. So in lists without weights,
// a separate draw handles its extra weight; its share is known once the entries that lead back are
// counted. After so many rejections that weighing the whole list is no more work, the whole list is
// weighed. That is exact as well, so every step ends for any p and q.
//
// Each walker is a small state machine that waits for memory at most once at each turn. The walkers
// of a group take turns, so that their waits overlap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/graph/neighbor_search.hpp"
#include "graphmount/sampling/walks/walk_lists.hpp"
#include "graphmount/sampling/walks/walk_options.hpp"

namespace graphmount {

template <class Lists, class Sink>
class SecondOrderWalk {
 public:
  SecondOrderWalk(const Lists& lists, const Walkers& walkers, const WalkOptions& options,
                  Sink& sink)
      : lists_(lists),
        walkers_(walkers),
        options_(options),
        sink_(sink),
        is_sorted_by_time_(lists.view().graph().mount().header().has(kFlagSortedByTime)),
        near_(1.0 / std::max({1.0, 1.0 / options.p, 1.0 / options.q})),
        back_(near_ / options.p),
        far_(near_ / options.q),
        envelope_(std::max({near_, far_, Lists::kWeighted ? back_ : 0.0})),
        floor_(std::min({near_, far_, back_})) {}

  /// Walks all steps, of which there must be some, of the walkers [first, last).
  void run(std::uint64_t first, std::uint64_t last) {
    std::size_t num_active = 0;
    while (first < last && num_active < kGroup) begin(group_[num_active++], first++);
    for (std::uint64_t round = 1; num_active > 0; ++round) {
      if (is_sorted_by_time_ || round % kRoundsBetweenChecks == 0) check_interrupt();
      for (std::size_t i = 0; i < num_active;) {
        Walker& walker = group_[i];
        if (visit(walker)) {
          ++i;
        } else if (first < last) {
          begin(walker, first++);
          ++i;
        } else {
          walker = group_[--num_active];
        }
      }
    }
  }

 private:
  using Index = typename Lists::Index;
  static constexpr std::size_t kGroup = 64;
  static constexpr NodeId kNone = -1;
  static constexpr std::int64_t kLeastTries = 8;
  static constexpr std::uint64_t kRoundsBetweenChecks = 256;

  enum class Phase : std::uint8_t { kDepart, kCount, kSettle, kWeigh, kSearch };

  struct Walker {
    Draws draws{RandomKey(0)};
    std::uint64_t number = 0, step = 1;
    NodeId node = 0, before = kNone, candidate = 0;
    ListRange list{}, list_before{};
    Pick pick;
    double bar = 0.0;    // a candidate is taken if it weighs more
    double extra = 0.0;  // what the entries that lead back weigh beyond the envelope
    std::int64_t num_tries = 0;
    NeighborSearch<Index> search;
    Phase phase = Phase::kDepart;
  };

  const Index* indices() const { return lists_.view().indices(); }

  void begin(Walker& walker, std::uint64_t number) {
    walker.draws = walkers_.draws_of(number);
    walker.number = number;
    walker.step = 1;
    sink_.visit(number, 0, walkers_.start_of(number));
    arrive(walker, walkers_.start_of(number), kNone);
  }

  void arrive(Walker& walker, NodeId node, NodeId before) {
    walker.node = node;
    walker.before = before;
    walker.phase = Phase::kDepart;
    lists_.prefetch_range(node);
  }

  // One look at memory. Returns whether the walker has further steps to decide about.
  bool visit(Walker& walker) {
    switch (walker.phase) {
      case Phase::kDepart:
        return depart(walker);
      case Phase::kCount:
        return count_back(walker);
      case Phase::kSettle:
        walker.pick.position = lists_.settle(walker.list, walker.pick);
        if (walker.pick.position == kNowhere) return stop(walker);
        walker.phase = Phase::kWeigh;
        return true;
      case Phase::kWeigh:
        walker.candidate = lists_.neighbor(walker.pick.position);
        return weigh(walker);
      default:
        return judge(walker, walker.search.look(indices()));
    }
  }

  bool depart(Walker& walker) {
    if (options_.restart > 0.0 && walker.draws.unit() < options_.restart) {
      const NodeId start = walkers_.start_of(walker.number);
      sink_.restart(walker.number, walker.step, start);
      arrive(walker, start, kNone);
      return ++walker.step <= walkers_.length;
    }
    walker.list = lists_.range(walker.node);
    if (walker.list.begin == walker.list.end) return stop(walker);
    walker.num_tries = 0;
    walker.extra = 0.0;
    if (walker.before == kNone || back_ <= envelope_) return draw(walker);
    walker.search.start(indices(), walker.list, walker.before, lists_.view().num_neighbors());
    walker.phase = Phase::kCount;
    return true;
  }

  bool count_back(Walker& walker) {
    std::int64_t count = 0;
    if (is_sorted_by_time_) {
      count = std::count(indices() + walker.list.begin, indices() + walker.list.end,
                         static_cast<Index>(walker.before));
    } else {
      const Found found = walker.search.look(indices());
      if (found == Found::kUnknown) return true;
      if (found == Found::kPresent) count = walker.search.count(indices(), walker.list);
    }
    if (count > 0) walker.extra = static_cast<double>(count) * (back_ - envelope_);
    return draw(walker);
  }

  bool draw(Walker& walker) {
    if (walker.before != kNone) {
      const auto degree = static_cast<double>(walker.list.end - walker.list.begin);
      const double share = walker.draws.unit() * (degree * envelope_ + walker.extra);
      if (walker.extra > 0.0 && share >= degree * envelope_) return take(walker, walker.before);
      walker.bar = share / degree;
    }
    walker.pick = lists_.draw(walker.list, walker.draws);
    walker.phase = Lists::kWeighted ? Phase::kSettle : Phase::kWeigh;
    return true;
  }

  bool weigh(Walker& walker) {
    if (walker.before == kNone || walker.bar < floor_) return take(walker, walker.candidate);
    if (walker.candidate == walker.before) return take_if(walker, walker.bar < back_);
    if (walker.bar < std::min(near_, far_)) return take(walker, walker.candidate);
    if (walker.bar >= std::max(near_, far_)) return take_if(walker, false);
    if (is_sorted_by_time_) return judge(walker, scan(walker.list_before, walker.candidate));
    walker.search.start(indices(), walker.list_before, walker.candidate,
                        lists_.view().num_neighbors());
    walker.phase = Phase::kSearch;
    return true;
  }

  bool judge(Walker& walker, Found found) {
    if (found == Found::kUnknown) return true;
    return take_if(walker, walker.bar < (found == Found::kPresent ? near_ : far_));
  }

  bool take_if(Walker& walker, bool is_taken) {
    if (is_taken) return take(walker, walker.candidate);
    const std::int64_t degree = walker.list.end - walker.list.begin;
    if (++walker.num_tries >= std::max(kLeastTries, degree)) return take(walker, weigh_all(walker));
    return draw(walker);
  }

  bool take(Walker& walker, NodeId node) {
    sink_.visit(walker.number, walker.step, node);
    walker.list_before = walker.list;
    arrive(walker, node, walker.node);
    return ++walker.step <= walkers_.length;
  }

  // A dead end.
  bool stop(Walker& walker) {
    const bool ends = options_.dead_end == DeadEnd::kEnd;
    if (ends || options_.restart == 0.0) {
      sink_.rest(walker.number, walker.step, ends ? kEnded : walker.node);
      return false;
    }
    sink_.visit(walker.number, walker.step, walker.node);
    arrive(walker, walker.node, kNone);
    return ++walker.step <= walkers_.length;
  }

  // In lists sorted by time an id may be anywhere.
  Found scan(ListRange list, NodeId node) const {
    const Index* end = indices() + list.end;
    return std::find(indices() + list.begin, end, static_cast<Index>(node)) == end
               ? Found::kAbsent
               : Found::kPresent;
  }

  Found find(ListRange list, NodeId node) const {
    if (is_sorted_by_time_) return scan(list, node);
    NeighborSearch<Index> search;
    search.start(indices(), list, node, lists_.view().num_neighbors());
    Found found = Found::kUnknown;
    while (found == Found::kUnknown) found = search.look(indices());
    return found;
  }

  double weight_of(const Walker& walker, EdgeId position) const {
    const NodeId node = lists_.neighbor(position);
    double bias = far_;
    if (node == walker.before)
      bias = back_;
    else if (find(walker.list_before, node) == Found::kPresent)
      bias = near_;
    return lists_.weight(position) * bias;
  }

  // A neighbor by the weights of all. Their sum is made twice rather than kept: no memory is
  // needed.
  NodeId weigh_all(Walker& walker) {
    double sum = 0.0;
    for (EdgeId i = walker.list.begin; i < walker.list.end; ++i) sum += weight_of(walker, i);
    double left = walker.draws.unit() * sum;
    EdgeId taken = walker.list.begin;
    for (EdgeId i = walker.list.begin; i < walker.list.end; ++i) {
      const double weight = weight_of(walker, i);
      if (weight > 0.0) taken = i;  // rounding may leave a little behind the last
      if ((left -= weight) < 0.0) break;
    }
    return lists_.neighbor(taken);
  }

  const Lists& lists_;
  const Walkers& walkers_;
  const WalkOptions& options_;
  Sink& sink_;
  const bool is_sorted_by_time_;
  // What candidates weigh, in parts of the heaviest, so that no sum is infinite.
  const double near_, back_, far_;
  // A bar is drawn below the envelope; below the floor, every candidate is taken.
  const double envelope_, floor_;
  std::array<Walker, kGroup> group_;
};

}  // namespace graphmount
