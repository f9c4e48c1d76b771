// The order of nodes by how often sampling needs them.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/types.hpp"

namespace graphmount {

/// Fills `order` with all nodes, those with the highest counts first, others by their numbers.
void hot_order(std::span<const std::uint32_t> counts, std::span<NodeId> order);

}  // namespace graphmount
