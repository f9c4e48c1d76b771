// One call for all ways to walk. The way is chosen here once, by lists, weights and options, and
// not at each step.
//
// A sink receives the steps of each walker in order: `visit` at step 0 and after each step,
// `restart` instead if the walker jumps back to its start, and `rest` if it stays at the same place
// in this and all later steps (kEnded if the walk is over).
#pragma once

#include "graphmount/sampling/walks/first_order_walk.hpp"
#include "graphmount/sampling/walks/second_order_walk.hpp"

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

}  // namespace graphmount
