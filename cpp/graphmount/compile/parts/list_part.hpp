// The neighbor lists of one range of nodes, from its pieces of all cuts: what one process makes of
// a graph that many processes compile. All of it is in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graphmount/compile/edges/edge_block.hpp"
#include "graphmount/compile/neighbor_lists.hpp"

namespace graphmount {

class ListPart {
 public:
  /// The lists of the nodes [first_node, end_node).
  ListPart(std::uint64_t first_node, std::uint64_t end_node, const ListOptions& options);

  /// The next entries, which are copied. Throws std::invalid_argument if one of them is not of
  /// these nodes, or its neighbor is larger than any may be; then none has been added.
  void add(const EdgePiece& piece);

  /// The lists, which are valid as long as this part. May be called once, after the last `add`;
  /// throws SourceError if added weights are too large.
  NeighborLists build();

 private:
  std::uint64_t first_node_, end_node_;
  ListOptions options_;
  std::unique_ptr<ListBuilder> builder_;
  std::vector<EdgeBlock> blocks_;
  bool is_built_ = false;
};

/// How much memory a part takes for each entry, and for the lists that another process gets.
std::uint64_t part_bytes_per_entry(const ListOptions& options);

}  // namespace graphmount
