// Where list entries come from: columns of a source. Those of finished lists: neighbor_lists.hpp.
//
// Each kind of source calls add(entry) for every entry of the rows [begin, end), in their order.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/read_once.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/compile/edges/edge_columns.hpp"

namespace graphmount {

/// An entry of a neighbor list on its way to its place: `neighbor`, in the list of `owner`.
struct ListEntry {
  std::uint64_t owner;
  std::uint64_t neighbor;
  std::uint64_t row;  // where it came from: a row of the source, or an edge id
  float weight;
  std::int64_t time;
};

/// The entries that rows of a source make in lists of one direction. The columns are a caller's,
/// and may have changed since `check_edges`: what is used is checked again, and SourceError thrown.
struct ColumnSource {
  const EdgeColumns& edges;
  Direction direction;
  bool undirected;
  bool drop_self_loops;
  std::uint64_t first_row;
  EdgeEnds ends;

  std::uint64_t num_rows() const { return edges.size(); }
  std::uint64_t entries_per_row() const { return undirected ? 2 : 1; }

  template <class Add>
  void for_each(std::size_t begin, std::size_t end, const Add& add) const {
    const bool is_in = direction == Direction::kIn;
    const NodeId* owners = (is_in ? edges.dst : edges.src).data();
    const NodeId* others = (is_in ? edges.src : edges.dst).data();
    const std::uint64_t num_owners = is_in ? ends.num_destinations : ends.num_sources;
    const std::uint64_t num_others = is_in ? ends.num_sources : ends.num_destinations;
    const float* weights = edges.weights ? edges.weights->data() : nullptr;
    const std::int64_t* times = edges.times ? edges.times->data() : nullptr;
    for (std::size_t row = begin; row < end; ++row) {
      const auto owner = static_cast<std::uint64_t>(read_once(owners + row));
      const auto other = static_cast<std::uint64_t>(read_once(others + row));
      const float weight = weights != nullptr ? read_once(weights + row) : 0.0F;
      if (owner >= num_owners || other >= num_others || !is_edge_weight(weight)) [[unlikely]]
        refuse_changed_edge(first_row + row);
      if (owner == other && drop_self_loops) continue;
      const std::int64_t time = times != nullptr ? times[row] : 0;
      add(ListEntry{owner, other, first_row + row, weight, time});
      // The other half of an undirected edge; a loop has only one.
      if (undirected && owner != other) add(ListEntry{other, owner, first_row + row, weight, time});
    }
  }
};

}  // namespace graphmount
