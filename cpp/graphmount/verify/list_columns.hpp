// The sections of one direction's lists, looked up once, for checks that go through all of them.
// Unlike ListView, it returns values that may be damaged; the caller reports them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graphmount/graph/graph.hpp"
#include "graphmount/graph/integer_column.hpp"

namespace graphmount {

/// Valid as long as the graph is, and to be read within `read_guarded`.
class ListColumns {
 public:
  ListColumns(const Graph& graph, Direction direction)
      : direction(direction),
        num_lists(graph.num_lists(direction)),
        num_neighbors(graph.num_neighbors(direction)),
        indptr(graph.mount().header().find(SectionKind::kIndptr, direction)),
        indices(graph.mount().header().find(SectionKind::kIndices, direction)),
        offsets(graph.mount().data<std::int64_t>(*indptr)),
        neighbors(integers(graph, SectionKind::kIndices)),
        times(integers(graph, SectionKind::kTimestamps)),
        edge_ids(integers(graph, SectionKind::kEdgeIds)),
        source_rows(integers(graph, SectionKind::kSourceRows)) {
    const Header& header = graph.mount().header();
    if (const Section* section = header.find(SectionKind::kWeights, direction))
      weights = graph.mount().data<float>(*section);
    if (const Section* section = header.find(SectionKind::kAlias, direction))
      alias = graph.mount().data<std::uint64_t>(*section);
  }

  std::uint64_t neighbor(std::uint64_t edge) const {
    return static_cast<std::uint64_t>(neighbors[edge]);
  }
  std::int64_t time(std::uint64_t edge) const { return times ? times[edge] : 0; }
  float weight(std::uint64_t edge) const { return weights != nullptr ? weights[edge] : 0.0F; }
  /// Position in the lists that number the edges.
  std::uint64_t edge_id(std::uint64_t edge) const {
    return edge_ids ? static_cast<std::uint64_t>(edge_ids[edge]) : edge;
  }
  /// The owner of the list that this position is in; the offsets must be sound.
  std::uint64_t owner(std::uint64_t edge) const {
    return static_cast<std::uint64_t>(
        std::upper_bound(offsets, offsets + num_lists + 1, static_cast<std::int64_t>(edge)) -
        offsets - 1);
  }

  const Direction direction;
  const std::uint64_t num_lists;
  const std::uint64_t num_neighbors;
  const Section* const indptr;
  const Section* const indices;
  const std::int64_t* const offsets;
  const IntegerColumn neighbors, times, edge_ids, source_rows;
  const float* weights = nullptr;
  const std::uint64_t* alias = nullptr;

 private:
  IntegerColumn integers(const Graph& graph, SectionKind kind) const {
    return {graph.mount(), graph.mount().header().find(kind, direction)};
  }
};

}  // namespace graphmount
