// The order of nodes by how often sampling needs them.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/progress.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/compile/graph_compiler.hpp"

namespace graphmount {

/// New ids by counts: those of the nodes with the highest counts come first, others by their
/// numbers. `ids` may be the memory of `counts`. Ids are NodeId, or std::uint32_t for up to 2^32
/// nodes.
template <class Id>
void rank_by_count(std::span<const std::uint32_t> counts, std::span<Id> ids);

/// New ids for nodes of one type, by how often they appear in the lists that these compilers make
/// first. Takes no memory besides `ids`, or 4 bytes for each node if `ids` are wide. Progress is
/// counted in list entries. Throws std::invalid_argument if lists have other nodes.
template <class Id>
void hot_ids(std::span<const GraphCompiler* const> compilers, std::span<Id> ids,
             const Progress& progress);

}  // namespace graphmount
