// List entries in memory, packed into arrays: in the order they came in, or, after `partition`,
// by cells of neighboring owners (and within a cell still in that order).
#pragma once

#include <algorithm>
#include <cstdint>
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
      : parts_(parts) {
    const std::size_t most = (end - begin) * static_cast<std::size_t>(source.entries_per_row());
    if (!fill(source, begin, end, most, narrow_)) {
      narrow_.release();
      fill(source, begin, end, most, wide_);
    }
  }

  std::size_t size() const { return count_; }
  std::size_t bytes() const;
  bool is_wide() const { return !wide_.empty(); }
  std::uint64_t largest_owner() const { return largest_owner_; }
  std::uint64_t largest_neighbor() const { return largest_neighbor_; }
  std::uint64_t largest_row() const { return largest_row_; }

  void partition(const Cells& cells);

  /// Those below need a partition.
  std::size_t cell_begin(std::size_t cell) const { return begins_[cell]; }
  EdgePiece piece(std::size_t first_cell, std::size_t end_cell) const;
  /// All entries.
  EdgePiece piece() const { return make_piece(0, count_); }

 private:
  EdgePiece make_piece(std::size_t begin, std::size_t end) const;

  // False if an id does not fit.
  template <class Source, class Pair>
  bool fill(const Source& source, std::size_t begin, std::size_t end, std::size_t most,
            Buffer<Pair>& pairs) {
    using Id = decltype(Pair::owner);
    pairs.resize(most);
    if (parts_.rows) wide_rows_.resize(most);
    if (parts_.weights) weights_.resize(most);
    if (parts_.times) times_.resize(most);
    std::uint64_t largest_owner = 0, largest_neighbor = 0;
    std::size_t count = 0;
    source.for_each(begin, end, [&](const ListEntry& entry) {
      largest_owner = std::max(largest_owner, entry.owner);
      largest_neighbor = std::max(largest_neighbor, entry.neighbor);
      pairs[count] = {static_cast<Id>(entry.owner), static_cast<Id>(entry.neighbor)};
      if (parts_.rows) wide_rows_[count] = entry.row;
      if (parts_.weights) weights_[count] = entry.weight;
      if (parts_.times) times_[count] = entry.time;
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

  EntryParts parts_;
  std::size_t count_ = 0;
  std::uint64_t largest_owner_ = 0, largest_neighbor_ = 0, first_row_ = 0, largest_row_ = 0;
  Buffer<NarrowPair> narrow_;  // one of these two
  Buffer<WidePair> wide_;
  Buffer<std::uint32_t> narrow_rows_;  // counted from first_row_
  Buffer<std::uint64_t> wide_rows_;
  Buffer<float> weights_;
  Buffer<std::int64_t> times_;
  std::vector<std::uint32_t> begins_;  // of the cells, and the end of the last
};

}  // namespace graphmount
