#include "graphmount/sampling/walks/random_walk.hpp"

#include "graphmount/sampling/walks/walk_range.hpp"

namespace graphmount {
ResultBuffer allocate_walks(std::uint64_t num_walks, std::uint64_t length) {
  return allocate_result(num_walks, length + 1, "walks of length " + std::to_string(length));
}

void random_walk(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                 std::span<NodeId> out) {
  require_walkable(graph, walkers, options);
  walk_to_rows(graph, walkers, options, out.data(), 0);
}

}  // namespace graphmount
