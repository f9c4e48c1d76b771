// Cuts list entries by ranges of the nodes that own them, so that other processes can make the
// lists of each range. Within a range, entries stay in the order in which they came.
//
// What GraphCompiler does with a spool and its buckets in one process, parts do in many: edges are
// cut, a ListPart makes the lists of a range from its pieces, these are turned round and cut again
// for the second direction, and a JoinedGraph writes all lists in their order.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/compile/edges/edge_block.hpp"
#include "graphmount/compile/neighbor_lists.hpp"

namespace graphmount {

/// Where ranges of nodes end: in ascending order; the first range begins at node 0.
using RangeEnds = std::span<const std::uint64_t>;

/// The entries of a source. Cell i of the block is range i. Throws std::invalid_argument if the
/// ends are not in order, or an owner is not below the last of them.
EdgeBlock cut_entries(const ColumnSource& edges, EntryParts parts, RangeEnds ends);

/// The entries of finished lists, turned round for the other direction. Their rows are counted from
/// `first_row`. Throws also if the lists are not such as a ListPart makes.
EdgeBlock cut_entries(const NeighborLists& lists, std::uint64_t first_row, RangeEnds ends);

/// Adds up how often each node appears as a neighbor, to at most 2^32 - 1. Throws
/// std::invalid_argument if there is no count for a neighbor.
void add_appearances(const EdgePiece& piece, std::span<std::uint32_t> counts);

/// Throws std::invalid_argument unless the offsets begin at 0, are in order and end with the
/// neighbors, there are as many values as neighbors where there are any, and no neighbor is
/// negative, or `num_neighbors` or more.
void require_lists(const NeighborLists& lists, std::uint64_t num_neighbors);

}  // namespace graphmount
