// Walks whose steps do not depend on the steps before: uniform or weighted, with restarts.
//
// Walkers go in groups, in step. A step of one walker waits for memory twice, for the offsets of
// its node and for the neighbor (three times, if weights choose); so each round of a group asks for
// what the next round reads, and the waits of all walkers overlap.
#pragma once

#include <array>
#include <cstdint>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/sampling/walks/walk_lists.hpp"
#include "graphmount/sampling/walks/walk_options.hpp"

namespace graphmount {

template <class Lists, class Sink>
class FirstOrderWalk {
 public:
  FirstOrderWalk(const Lists& lists, const Walkers& walkers, const WalkOptions& options, Sink& sink)
      : lists_(lists), walkers_(walkers), options_(options), sink_(sink) {}

  /// Walks all steps of the walkers [first, last).
  void run(std::uint64_t first, std::uint64_t last) {
    while (first < last) {
      num_active_ = 0;
      for (; first < last && num_active_ < kGroup; ++first) begin(first);
      for (std::uint64_t step = 1; step <= walkers_.length && num_active_ > 0; ++step) {
        if (step % kStepsBetweenChecks == 0) check_interrupt();
        for (std::size_t i = 0; i < num_active_; ++i) depart(group_[i]);
        if constexpr (Lists::kWeighted)
          for (std::size_t i = 0; i < num_active_; ++i) settle(group_[i]);
        for (std::size_t i = 0; i < num_active_;) {
          if (arrive(group_[i], step))
            ++i;
          else
            group_[i] = group_[--num_active_];
        }
      }
    }
  }

 private:
  // Enough to keep all line fill buffers of a core busy; the group itself stays in its first cache.
  static constexpr std::size_t kGroup = 64;
  static constexpr std::uint64_t kStepsBetweenChecks = 256;
  static constexpr EdgeId kRestart = -2;
  static_assert(kRestart != kNowhere);

  struct Walker {
    Draws draws{RandomKey(0)};
    std::uint64_t number = 0;
    NodeId node = 0;
    Pick pick;
    ListRange list{};
  };

  void begin(std::uint64_t number) {
    Walker& walker = group_[num_active_++];
    walker.draws = walkers_.draws_of(number);
    walker.number = number;
    walker.node = walkers_.start_of(number);
    lists_.prefetch_range(walker.node);
    sink_.visit(number, 0, walker.node);
  }

  void depart(Walker& walker) {
    if (options_.restart > 0.0 && walker.draws.unit() < options_.restart) {
      walker.pick.position = kRestart;
      return;
    }
    const ListRange list = lists_.range(walker.node);
    if (list.begin == list.end) {
      walker.pick.position = kNowhere;
      return;
    }
    if constexpr (Lists::kWeighted) walker.list = list;
    walker.pick = lists_.draw(list, walker.draws);
  }

  void settle(Walker& walker) {
    if (walker.pick.position >= 0) walker.pick.position = lists_.settle(walker.list, walker.pick);
  }

  // Returns whether the walker has further steps to decide about.
  bool arrive(Walker& walker, std::uint64_t step) {
    if (walker.pick.position >= 0) [[likely]] {
      walker.node = lists_.neighbor(walker.pick.position);
      lists_.prefetch_range(walker.node);
      sink_.visit(walker.number, step, walker.node);
      return true;
    }
    if (walker.pick.position == kRestart) {
      walker.node = walkers_.start_of(walker.number);
      lists_.prefetch_range(walker.node);
      sink_.restart(walker.number, step, walker.node);
      return true;
    }
    const bool ends = options_.dead_end == DeadEnd::kEnd;
    if (ends || options_.restart == 0.0) {
      sink_.rest(walker.number, step, ends ? kEnded : walker.node);
      return false;
    }
    sink_.visit(walker.number, step, walker.node);
    return true;
  }

  const Lists& lists_;
  const Walkers& walkers_;
  const WalkOptions& options_;
  Sink& sink_;
  std::array<Walker, kGroup> group_;
  std::size_t num_active_ = 0;
};

}  // namespace graphmount
