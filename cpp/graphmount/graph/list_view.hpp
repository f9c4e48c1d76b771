// The neighbor lists of one direction as hot loops read them: plain pointers, and checks of
// whatever is followed. A damaged file gives a FormatError, never a wrong access.
#pragma once

#include <cstdint>

#include "graphmount/base/fetch.hpp"
#include "graphmount/base/read_once.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/graph/integer_column.hpp"

namespace graphmount {

/// Valid within `read_lists`. `Index` is the dtype of the neighbors in the file.
template <class Index>
class ListView {
 public:
  ListView(const Graph& graph, Direction direction)
      : graph_(&graph),
        stored_(graph.stored_direction(direction)),
        indptr_(section<std::int64_t>(SectionKind::kIndptr)),
        indices_(section<Index>(SectionKind::kIndices)),
        num_lists_(graph.num_lists(stored_)),
        num_neighbors_(graph.num_neighbors(stored_)),
        num_edges_(graph.num_edges()) {}

  const Graph& graph() const { return *graph_; }
  Direction stored_direction() const { return stored_; }
  /// How many nodes have a list here, and how many a neighbor can be one of. They differ only if
  /// the edges lead from one node type to another.
  std::uint64_t num_lists() const { return num_lists_; }
  std::uint64_t num_neighbors() const { return num_neighbors_; }
  std::uint64_t num_edges() const { return num_edges_; }
  const std::int64_t* indptr() const { return indptr_; }
  const Index* indices() const { return indices_; }

  /// Another section of these lists; nullptr if the graph was compiled without it.
  template <class Item>
  const Item* section(SectionKind kind) const {
    const Section* found = graph_->mount().header().find(kind, stored_);
    return found == nullptr ? nullptr : graph_->mount().data<Item>(*found);
  }

  /// Where the list of a node is. The node must be below `num_lists`.
  ListRange range(NodeId node) const {
    const ListRange range{read_once(indptr_ + node), read_once(indptr_ + node + 1)};
    if (range.begin < 0 || range.begin > range.end ||
        static_cast<std::uint64_t>(range.end) > num_edges_) [[unlikely]]
      graph_->refuse_range(node, range, stored_);
    return range;
  }

  std::int64_t degree(NodeId node) const {
    const ListRange list = range(node);
    return list.end - list.begin;
  }

  /// The neighbor at a position, which must be in a list.
  NodeId neighbor(EdgeId position) const {
    const Index neighbor = read_once(indices_ + position);
    if (static_cast<std::uint64_t>(neighbor) >= num_neighbors_) [[unlikely]]
      graph_->refuse_neighbor(position, neighbor, stored_);
    return static_cast<NodeId>(neighbor);
  }

  /// The id of the edge at a position, of those that the lists have. It is below the number of
  /// edges.
  EdgeId edge_id(const IntegerColumn& edge_ids, EdgeId position) const {
    const EdgeId id = edge_ids[static_cast<std::uint64_t>(position)];
    if (static_cast<std::uint64_t>(id) >= num_edges_) [[unlikely]]
      graph_->refuse_edge_id(position, id, stored_);
    return id;
  }

  void prefetch_range(NodeId node) const { fetch_line(indptr_ + node); }
  void prefetch_neighbor(EdgeId position) const { fetch_line(indices_ + position); }

 private:
  const Graph* graph_;
  Direction stored_;
  const std::int64_t* indptr_;
  const Index* indices_;
  std::uint64_t num_lists_;
  std::uint64_t num_neighbors_;
  std::uint64_t num_edges_;
};

/// Calls `read` with the ListView of a direction, and returns its result. Throws MissingDataError
/// if the file lacks the direction, and FileChangedError if a page was lost meanwhile.
template <class Read>
auto read_lists(const Graph& graph, Direction direction, Read&& read) {
  const Section& indices = *graph.find(SectionKind::kIndices, direction);
  return graph.mount().file().read_guarded([&] {
    return indices.dtype == DType::kInt32 ? read(ListView<std::int32_t>(graph, direction))
                                          : read(ListView<std::int64_t>(graph, direction));
  });
}

}  // namespace graphmount
