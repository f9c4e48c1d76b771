// List entries in memory, packed into arrays: in the order they came in, or, after `partition`,
// by cells of neighboring owners (and within a cell still in that order).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/compile/edges/edge_piece.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// Cuts owners into cells: cell c holds those from base + (c << shift) on.
struct Cells {
  std::uint64_t base = 0;
  int shift = 0;
  std::size_t count = 0;

  std::size_t of(std::uint64_t owner) const {
    return static_cast<std::size_t>((owner - base) >> shift);
  }
};

class EdgeBlock {
 public:
  /// The entries of the rows [begin, end) of a source.
  template <class Source>
  EdgeBlock(const Source& source, std::size_t begin, std::size_t end, EntryParts parts)
      : item_bytes_{0, parts.rows ? sizeof(std::uint64_t) : 0, parts.weights ? sizeof(float) : 0,
                    parts.times ? sizeof(std::int64_t) : 0} {
    const std::size_t most = (end - begin) * static_cast<std::size_t>(source.entries_per_row());
    if (!fill<NarrowPair>(source, begin, end, most)) {
      parts_[EntryPart::kPairs].release();
      fill<WidePair>(source, begin, end, most);
    }
  }

  std::size_t size() const { return count_; }
  std::size_t bytes() const;
  bool is_wide() const { return item_bytes_[EntryPart::kPairs] == sizeof(WidePair); }
  std::uint64_t largest_owner() const { return largest_owner_; }
  std::uint64_t largest_neighbor() const { return largest_neighbor_; }
  std::uint64_t largest_row() const { return largest_row_; }

  void partition(const Cells& cells);
  /// By ranges of any width, which end here, in ascending order; all owners are below the last end.
  void partition(std::span<const std::uint64_t> ends);

  /// Those below need a partition.
  std::size_t cell_begin(std::size_t cell) const { return begins_[cell]; }
  EdgePiece piece(std::size_t first_cell, std::size_t end_cell) const {
    return make_piece(begins_[first_cell], begins_[end_cell]);
  }
  /// All entries.
  EdgePiece piece() const { return make_piece(0, count_); }

 private:
  template <class CellOf>
  void move_to_cells(std::size_t num_cells, const CellOf& cell_of_owner);
  EdgePiece make_piece(std::size_t begin, std::size_t end) const;

  template <class Item>
  Item* items(std::size_t part) {
    return reinterpret_cast<Item*>(parts_[part].data());
  }

  // False if an id does not fit.
  template <class Pair, class Source>
  bool fill(const Source& source, std::size_t begin, std::size_t end, std::size_t most) {
    using Id = decltype(Pair::owner);
    item_bytes_[EntryPart::kPairs] = sizeof(Pair);
    for (std::size_t part = 0; part < EntryPart::kCount; ++part)
      parts_[part].resize(most * item_bytes_[part]);
    auto* const pairs = items<Pair>(EntryPart::kPairs);
    auto* const rows = items<std::uint64_t>(EntryPart::kRows);
    auto* const weights = items<float>(EntryPart::kWeights);
    auto* const times = items<std::int64_t>(EntryPart::kTimes);
    std::uint64_t largest_owner = 0, largest_neighbor = 0;
    std::size_t count = 0;
    source.for_each(begin, end, [&](const ListEntry& entry) {
      largest_owner = std::max(largest_owner, entry.owner);
      largest_neighbor = std::max(largest_neighbor, entry.neighbor);
      pairs[count] = {static_cast<Id>(entry.owner), static_cast<Id>(entry.neighbor)};
      if (rows != nullptr) rows[count] = entry.row;
      if (weights != nullptr) weights[count] = entry.weight;
      if (times != nullptr) times[count] = entry.time;
      ++count;
    });
    if (static_cast<Id>(largest_owner) != largest_owner ||
        static_cast<Id>(largest_neighbor) != largest_neighbor)
      return false;
    count_ = count;
    largest_owner_ = largest_owner;
    largest_neighbor_ = largest_neighbor;
    narrow_rows();
    return true;
  }

  void narrow_rows();

  std::size_t count_ = 0;
  std::uint64_t largest_owner_ = 0, largest_neighbor_ = 0, first_row_ = 0, largest_row_ = 0;
  ForParts<std::size_t> item_bytes_;  // 0 for parts that entries do not have; see EdgePiece
  ForParts<Buffer<std::byte>> parts_;
  std::vector<std::uint32_t> begins_;  // of the cells, and the end of the last
};

}  // namespace graphmount
