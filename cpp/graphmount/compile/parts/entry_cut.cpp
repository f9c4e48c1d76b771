#include "graphmount/compile/parts/entry_cut.hpp"

#include <algorithm>
#include <stdexcept>

#include "graphmount/base/error.hpp"

namespace graphmount {
namespace {

template <class Source>
EdgeBlock cut(const Source& source, EntryParts parts, RangeEnds ends) {
  if (ends.empty() || !std::is_sorted(ends.begin(), ends.end()))
    throw std::invalid_argument("the ends of the ranges of nodes are not in order");
  EdgeBlock block(source, 0, static_cast<std::size_t>(source.num_rows()), parts);
  if (block.size() != 0 && block.largest_owner() >= ends.back())
    throw std::invalid_argument(say("node ", block.largest_owner(), " is in no range of nodes"));
  block.partition(ends);
  return block;
}

template <class Index>
bool are_below(std::span<const Index> neighbors, std::uint64_t count) {
  return std::all_of(neighbors.begin(), neighbors.end(), [count](Index neighbor) {
    return neighbor >= 0 && static_cast<std::uint64_t>(neighbor) < count;
  });
}

}  // namespace

EdgeBlock cut_entries(const ColumnSource& edges, EntryParts parts, RangeEnds ends) {
  return cut(edges, parts, ends);
}

EdgeBlock cut_entries(const NeighborLists& lists, std::uint64_t first_row, RangeEnds ends) {
  require_lists(lists, ends.empty() ? 0 : ends.back());
  const EntryParts parts{true, !lists.weights.empty(), !lists.times.empty()};
  return cut(ListSource{lists, first_row}, parts, ends);
}

void add_appearances(const EdgePiece& piece, std::span<std::uint32_t> counts) {
  piece.for_each(0, piece.count, [&](const ListEntry& entry) {
    if (entry.neighbor >= counts.size())
      throw std::invalid_argument(
          say("there are ", counts.size(), " counts, and none for node ", entry.neighbor));
    std::uint32_t& count = counts[static_cast<std::size_t>(entry.neighbor)];
    count += count != UINT32_MAX;
  });
}

void require_lists(const NeighborLists& lists, std::uint64_t num_neighbors) {
  const std::size_t count = lists.narrow_indices.size() + lists.wide_indices.size();
  const bool has_offsets = !lists.offsets.empty() && lists.offsets.front() == 0 &&
                           std::is_sorted(lists.offsets.begin(), lists.offsets.end()) &&
                           static_cast<std::size_t>(lists.offsets.back()) == count;
  if (!has_offsets || (!lists.narrow_indices.empty() && !lists.wide_indices.empty()))
    throw std::invalid_argument("the offsets of neighbor lists do not fit the neighbors");
  for (const std::size_t size : {lists.rows.size(), lists.weights.size(), lists.times.size()})
    if (size != 0 && size != count)
      throw std::invalid_argument(say("there are ", size, " values for ", count, " neighbors"));
  if (!are_below(lists.narrow_indices, num_neighbors) ||
      !are_below(lists.wide_indices, num_neighbors))
    throw std::invalid_argument(say("a neighbor is not one of ", num_neighbors, " nodes"));
}

}  // namespace graphmount
