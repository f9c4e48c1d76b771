// Random walks: uniform, weighted, or node2vec's, with restarts, many at a time.
//
// A walk is a function of the key, the walker's number, its start and the options; threads do not
// matter, and neither do other walkers. Every offset and id that is followed is checked: a damaged
// file gives a FormatError.
#pragma once

#include "graphmount/sampling/walks/walk_options.hpp"
#include "graphmount/system/memory/result_memory.hpp"

namespace graphmount {

/// Rows of length + 1 nodes, the start first. Where a walker came by a restart, its node has the
/// bits of `restart_mark` as well. Throws IdError, MissingDataError, FormatError, FileChangedError,
/// BudgetError and std::invalid_argument.
ResultBuffer random_walk(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                         NodeId restart_mark = 0);

}  // namespace graphmount
