#include "graphmount/compile/parts/list_part.hpp"

#include <stdexcept>
#include <utility>

#include "graphmount/base/error.hpp"

namespace graphmount {

ListPart::ListPart(std::uint64_t first_node, std::uint64_t end_node, const ListOptions& options)
    : first_node_(first_node),
      end_node_(end_node),
      options_(options),
      builder_(make_list_builder(options)) {
  if (first_node > end_node)
    throw std::invalid_argument(say("nodes ", first_node, " to ", end_node, " are no range"));
}

void ListPart::add(const EdgePiece& piece) {
  // A copy, so that a caller who changes the memory still does not change what was checked.
  EdgeBlock block(piece, 0, piece.count, options_.parts);
  bool is_fine = true;
  block.piece().for_each(0, block.size(), [&](const ListEntry& entry) {
    is_fine &= entry.owner >= first_node_ && entry.owner < end_node_ &&
               entry.neighbor <= options_.largest_neighbor;
  });
  if (!is_fine)
    throw std::invalid_argument(
        say("an entry is not of the nodes ", first_node_, " to ", end_node_));
  if (block.size() != 0) blocks_.push_back(std::move(block));
}

NeighborLists ListPart::build() {
  if (std::exchange(is_built_, true))
    throw std::invalid_argument("the lists have been made already");
  std::vector<EdgePiece> pieces;
  pieces.reserve(blocks_.size());
  for (const EdgeBlock& block : blocks_) pieces.push_back(block.piece());
  const NeighborLists lists = builder_->build(first_node_, end_node_, pieces);
  blocks_.clear();
  return lists;
}

std::uint64_t part_bytes_per_entry(const ListOptions& options) {
  const EntryParts& parts = options.parts;
  const std::uint64_t values = (parts.weights ? 4 : 0) + (parts.times ? 8 : 0);
  const std::uint64_t entry = sizeof(NarrowPair) + (parts.rows ? 8 : 0) + values;
  const std::uint64_t stored = (options.wide_indices ? 8 : 4) + (parts.rows ? 8 : 0) + values;
  return entry + list_bytes_per_entry(options) + stored;
}

}  // namespace graphmount
