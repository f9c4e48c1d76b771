// Relations as Python gives them: a graph, the types of its sources and destinations, and fanouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "graphmount/sampling/neighbors/typed_sampler.hpp"

namespace graphmount::bindings {

using RelationArguments =
    std::tuple<std::shared_ptr<Graph>, std::size_t, std::size_t, std::vector<std::int64_t>>;

/// Where Python has a number below 0, all neighbors are drawn.
inline std::vector<std::uint64_t> to_fanouts(const std::vector<std::int64_t>& fanouts) {
  std::vector<std::uint64_t> counts;
  for (const std::int64_t fanout : fanouts)
    counts.push_back(fanout < 0 ? kAllNeighbors : static_cast<std::uint64_t>(fanout));
  return counts;
}

}  // namespace graphmount::bindings
