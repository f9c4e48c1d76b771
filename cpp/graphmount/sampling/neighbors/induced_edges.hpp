// All edges between the nodes of a sample, as the lists of one direction have them.
//
// The list of each node is read and its neighbors are looked up in the sample. A list that is much
// longer than the sample is searched for the sample's nodes instead, where it is sorted by node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/graph/list_view.hpp"
#include "graphmount/sampling/neighbors/hop_picks.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

/// Writes the edges that lead from `neighbors` to `targets`, by target, in the order of the lists.
/// range_of(target) gives the part of its list that may be there; find(node, target) the number
/// that the neighbor of a target has, if any; id_of(position) the id of an edge.
template <class Index, class RangeOf, class Find, class IdOf>
void induce_edges(const ListView<Index>& lists, std::span<const NodeId> targets,
                  std::span<const NodeId> neighbors, const RangeOf& range_of, const Find& find,
                  const IdOf& id_of, InducedEdges out) {
  struct Found {
    EdgeId position;
    std::int64_t neighbor, target;
  };
  constexpr std::size_t kGrain = 256;
  const bool is_sorted = !lists.graph().mount().header().has(kFlagSortedByTime);
  std::vector<NodeId> sorted(neighbors.begin(), neighbors.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

  std::vector<std::vector<Found>> found((targets.size() + kGrain - 1) / kGrain);
  parallel_for(targets.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Found>& mine = found[begin / kGrain];
    for (std::size_t target = begin; target < end; ++target) {
      const ListRange range = range_of(target);
      const auto add = [&](EdgeId position) {
        const auto number = find(lists.neighbor(position), target);
        if (number) mine.push_back({position, *number, static_cast<std::int64_t>(target)});
      };
      const Index* const list_end = lists.indices() + range.end;
      if (is_sorted && (range.end - range.begin) / 32 > static_cast<EdgeId>(sorted.size())) {
        const Index* at = lists.indices() + range.begin;
        for (const NodeId node : sorted) {
          at = std::lower_bound(at, list_end, static_cast<Index>(node));
          for (; at != list_end && *at == static_cast<Index>(node); ++at) add(at - lists.indices());
        }
      } else {
        for (EdgeId position = range.begin; position < range.end; ++position) add(position);
      }
    }
  });

  std::vector<std::size_t> starts(found.size() + 1, 0);
  for (std::size_t i = 0; i < found.size(); ++i) starts[i + 1] = starts[i] + found[i].size();
  out.neighbors.resize(starts.back());
  out.targets.resize(starts.back());
  out.edge_ids.resize(starts.back());
  parallel_each(found.size(), 1, [&](std::size_t i) {
    std::size_t edge = starts[i];
    for (const Found& one : found[i]) {
      out.neighbors[edge] = one.neighbor;
      out.targets[edge] = one.target;
      out.edge_ids[edge++] = id_of(one.position);
    }
  });
}

}  // namespace graphmount
