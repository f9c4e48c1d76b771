// Whether there is an edge: lookups in neighbor lists, many of them under way at a time.
//
// A list that is sorted by neighbor is searched one cache line at a time (`neighbor_search`); one
// that is sorted by time is read from its beginning to its end. A lookup mostly waits for memory,
// so many lookups take turns, one step each. Every value that is read is checked, as in ListView.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/graph/list_view.hpp"
#include "graphmount/graph/neighbor_search.hpp"

namespace graphmount {

/// out[i] = 1 if there is an edge from sources[i] to destinations[i], else 0. Looks into the lists
/// that the file has; where it has both directions, into the shorter of two lists.
/// Throws std::invalid_argument unless the spans are of one length, and IdError.
void find_edges(const Graph& graph, std::span<const NodeId> sources,
                std::span<const NodeId> destinations, std::span<std::uint8_t> out);

/// The search for one node in one list; `settle_lookups` says whether it is there.
template <class Index>
struct EdgeLookup {
  const ListView<Index>* lists;
  ListRange list;
  NodeId sought;
  bool is_found;
  NeighborSearch<Index> search;
};

/// The most lookups under way at a time.
inline constexpr std::size_t kMostLookups = 128;

/// Whether `sought`, which must be a node, is in a stretch, by reading all of it.
template <class Index>
bool is_in_stretch(const ListView<Index>& lists, ListRange stretch, NodeId sought) {
  using Unsigned = std::make_unsigned_t<Index>;
  constexpr EdgeId kBlock = 1024;
  const Index* indices = lists.indices();
  const auto target = static_cast<Index>(sought);
  const auto last = static_cast<Unsigned>(lists.num_neighbors() - 1);  // there is a node: `sought`
  for (EdgeId first = stretch.begin; first < stretch.end; first += kBlock) {
    const EdgeId stop = std::min(stretch.end, first + kBlock);
    // No way out of the loop, and numbers as wide as the entries: so the compiler compares several
    // at a time.
    Unsigned found = 0, damaged = 0;
    for (EdgeId position = first; position < stop; ++position) {
      const Index neighbor = indices[position];
      found |= static_cast<Unsigned>(neighbor == target);
      damaged |= static_cast<Unsigned>(static_cast<Unsigned>(neighbor) > last);
    }
    if (damaged != 0) [[unlikely]]
      for (EdgeId position = first; position < stop; ++position) lists.neighbor(position);
    if (found != 0) return true;
  }
  return false;
}

/// Sets `is_found` of all lookups, of which there are at most kMostLookups.
template <class Index>
void settle_lookups(std::span<EdgeLookup<Index>> lookups, bool is_sorted_by_time) {
  std::array<std::uint8_t, kMostLookups> live;
  std::size_t num_live = 0;
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    EdgeLookup<Index>& lookup = lookups[i];
    lookup.is_found = false;
    if (is_sorted_by_time) {
      check_interrupt();  // a list may be long
      lookup.is_found = is_in_stretch(*lookup.lists, lookup.list, lookup.sought);
      continue;
    }
    lookup.search.start(lookup.lists->indices(), lookup.list, lookup.sought,
                        lookup.lists->num_neighbors());
    if (!lookup.search.is_over()) live[num_live++] = static_cast<std::uint8_t>(i);
  }
  while (num_live > 0) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < num_live; ++i) {
      EdgeLookup<Index>& lookup = lookups[live[i]];
      lookup.is_found = is_in_stretch(*lookup.lists, lookup.search.line(), lookup.sought);
      if (!lookup.is_found && lookup.search.look(lookup.lists->indices()) == Found::kUnknown)
        live[left++] = live[i];
    }
    num_live = left;
  }
}

}  // namespace graphmount
