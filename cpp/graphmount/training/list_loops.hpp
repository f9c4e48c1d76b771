// Lists of edges divided among threads, which run the widest vectors there are.
#pragma once

#include <cstddef>

#include "graphmount/base/vector_loops.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/team.hpp"
#include "graphmount/training/edge_lists.hpp"

namespace graphmount {

/// Calls body(first, last) for ranges of lists. All parts of it must be GRAPHMOUNT_INLINE.
template <class Body>
void for_lists(const EdgeLists& lists, const Body& body) {
  constexpr std::size_t kLeastLists = 64;
  team_for(lists.size(), balanced_grain(lists.size(), kLeastLists),
           [&](std::size_t first, std::size_t last) {
             run_vectorized([&]() __attribute__((always_inline)) { body(first, last); });
           });
}

}  // namespace graphmount
