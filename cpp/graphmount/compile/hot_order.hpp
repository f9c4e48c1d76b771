// The order of nodes by how often sampling needs them.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/progress.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/compile/graph_compiler.hpp"

namespace graphmount {

/// Turns counts into new ids, in their place: those of the nodes with the highest counts come
/// first, others by their numbers. For up to 2^32 nodes.
void rank_by_count(std::span<std::uint32_t> counts);
/// The same for any number of nodes.
void rank_by_count(std::span<const std::uint32_t> counts, std::span<NodeId> ids);

/// New ids for nodes of one type, by how often they appear in the lists that these compilers make
/// first. Takes no memory besides `ids`, or 4 bytes for each node if `ids` are wide. Progress is
/// counted in list entries. Throws std::invalid_argument if lists have other nodes.
void hot_ids(std::span<const GraphCompiler* const> compilers, std::span<std::uint32_t> ids,
             const Progress& progress);
void hot_ids(std::span<const GraphCompiler* const> compilers, std::span<NodeId> ids,
             const Progress& progress);

}  // namespace graphmount
