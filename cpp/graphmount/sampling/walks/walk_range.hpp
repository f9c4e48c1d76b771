// All ways to walk behind one call: what lists, weights and options make of it is decided here,
// once, and not at each step.
//
// A sink is told what walkers do, in the order of each one's steps: `visit` at step 0 and after
// each step, `restart` instead where the walker is back at its start, and `rest` where it is in the
// same place in this and all later steps (kEnded, if that is nowhere).
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
