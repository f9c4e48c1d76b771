// All ways to walk behind one call: what lists, weights and options make of it is decided here,
// once, and not at each step.
//
// A sink is told what walkers do, in the order of each one's steps: `visit` at step 0 and after
// each step, `restart` instead where the walker is back at its start, and `rest` where it is in the
// same place in this and all later steps (kEnded, if that is nowhere).
#pragma once

#include <algorithm>

#include "graphmount/sampling/walks/first_order_walk.hpp"
#include "graphmount/sampling/walks/second_order_walk.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

/// Calls `use` with the WalkLists that these options need.
template <class Use>
void read_walk_lists(const Graph& graph, const WalkOptions& options, const Use& use) {
  read_lists(graph, options.direction, [&]<class Index>(const ListView<Index>& view) {
    if (options.weighted)
      use(WalkLists<Index, true>(view));
    else
      use(WalkLists<Index, false>(view));
  });
}

/// Walks all steps of the walkers [first, last), on this thread.
template <class Lists, class Sink>
void walk_range(const Lists& lists, const Walkers& walkers, const WalkOptions& options,
                std::uint64_t first, std::uint64_t last, Sink& sink) {
  // Before the second step there is none that it could depend on.
  if (options.is_second_order() && walkers.length > 1)
    SecondOrderWalk<Lists, Sink>(lists, walkers, options, sink).run(first, last);
  else
    FirstOrderWalk<Lists, Sink>(lists, walkers, options, sink).run(first, last);
}

/// Fewer walkers than this are not worth a thread: they would not hide each other's waits.
inline constexpr std::size_t kLeastWalkers = 64;

/// Writes walks into rows of `columns` nodes. Where a walker came by a restart, its node has the
/// bits of `restart_mark` as well.
class WalkRows {
 public:
  WalkRows(NodeId* rows, std::uint64_t columns, NodeId restart_mark)
      : rows_(rows), columns_(columns), restart_mark_(restart_mark) {}

  void visit(std::uint64_t walker, std::uint64_t step, NodeId node) {
    rows_[walker * columns_ + step] = node;
  }
  void restart(std::uint64_t walker, std::uint64_t step, NodeId node) {
    visit(walker, step, node | restart_mark_);
  }
  void rest(std::uint64_t walker, std::uint64_t step, NodeId node) {
    std::fill_n(rows_ + walker * columns_ + step, columns_ - step, node);
  }

 private:
  NodeId* rows_;
  std::uint64_t columns_;
  NodeId restart_mark_;
};

/// Walks all walkers into rows of length + 1 nodes each, in parallel.
inline void walk_to_rows(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                         NodeId* rows, NodeId restart_mark) {
  const std::size_t grain = balanced_grain(walkers.count(), kLeastWalkers);
  read_walk_lists(graph, options, [&](const auto& lists) {
    parallel_for(walkers.count(), grain, [&](std::size_t begin, std::size_t end) {
      WalkRows sink(rows, walkers.length + 1, restart_mark);
      walk_range(lists, walkers, options, begin, end, sink);
    });
  });
}

}  // namespace graphmount
