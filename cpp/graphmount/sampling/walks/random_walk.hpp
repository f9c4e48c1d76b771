// Random walks: uniform, weighted, or node2vec's, with restarts, many at a time.
//
// A walk is a function of the key, the walker's number, its start and the options; threads do not
// matter, and neither do other walkers. Every offset and id that is followed is checked: a damaged
// file gives a FormatError.
#pragma once

#include <span>

#include "graphmount/sampling/walks/walk_options.hpp"
#include "graphmount/system/memory/result_memory.hpp"

namespace graphmount {

/// Memory for as many walks; throws BudgetError if there is none.
ResultBuffer allocate_walks(std::uint64_t num_walks, std::uint64_t length);

/// Walks into rows of length + 1 nodes, the start first. Throws IdError, MissingDataError,
/// FormatError, FileChangedError and std::invalid_argument.
void random_walk(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                 std::span<NodeId> out);

}  // namespace graphmount
