// Sorts the entries of a range of nodes into their neighbor lists, in memory.
//
// The result does not depend on the number of threads: lists are sorted by neighbor (for temporal
// graphs by time, then neighbor), equal entries by the order in which they came.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "graphmount/base/types.hpp"
#include "graphmount/compile/edges/edge_piece.hpp"

namespace graphmount {

/// What becomes of edges between the same two nodes (at the same time, where edges have times).
enum class Dedup { kKeepAll, kKeepFirst, kSumWeights };

struct ListOptions {
  EntryParts parts;
  Dedup dedup = Dedup::kKeepAll;
  bool wide_indices = false;           // neighbors as int64 rather than int32
  std::uint64_t largest_neighbor = 0;  // no neighbor is larger, and no id is kMaxNodes or more
};

/// The lists of a range of nodes. The spans point into the builder that made them, and are valid
/// until it builds the next.
struct NeighborLists {
  std::uint64_t first_node = 0;
  std::span<const std::int64_t> offsets{};         // of the lists, and the end of the last
  std::span<const std::int32_t> narrow_indices{};  // one of these two is empty
  std::span<const std::int64_t> wide_indices{};
  std::span<const std::int64_t> rows{};  // empty without
  std::span<const float> weights{};
  std::span<const std::int64_t> times{};

  std::uint64_t num_nodes() const { return offsets.size() - 1; }
  std::uint64_t num_entries() const { return static_cast<std::uint64_t>(offsets.back()); }
};

/// The entries of finished lists, turned round: what owned them becomes the neighbor, and their
/// places become the rows. A source of entries: see edge_source.hpp.
struct ListSource {
  const NeighborLists& lists;
  std::uint64_t first_row;

  std::uint64_t num_rows() const { return lists.num_entries(); }
  std::uint64_t entries_per_row() const { return 1; }

  template <class Add>
  void for_each(std::size_t begin, std::size_t end, const Add& add) const {
    if (lists.wide_indices.empty())
      for_each(lists.narrow_indices, begin, end, add);
    else
      for_each(lists.wide_indices, begin, end, add);
  }

 private:
  template <class Index, class Add>
  void for_each(std::span<const Index> neighbors, std::size_t begin, std::size_t end,
                const Add& add) const {
    const auto offsets = lists.offsets;
    const float* weights = lists.weights.empty() ? nullptr : lists.weights.data();
    const std::int64_t* times = lists.times.empty() ? nullptr : lists.times.data();
    const auto after =
        std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int64_t>(begin));
    auto node = static_cast<std::size_t>(after - offsets.begin()) - 1;
    for (std::size_t i = begin; i < end; ++i) {
      while (offsets[node + 1] <= static_cast<std::int64_t>(i)) ++node;
      add(ListEntry{static_cast<std::uint64_t>(neighbors[i]), lists.first_node + node,
                    first_row + i, weights != nullptr ? weights[i] : 0.0F,
                    times != nullptr ? times[i] : 0});
    }
  }
};

class ListBuilder {
 public:
  virtual ~ListBuilder() = default;
  /// The lists of the nodes [first_node, end_node), whose entries are in the pieces. Throws
  /// SourceError if added weights are too large.
  virtual NeighborLists build(std::uint64_t first_node, std::uint64_t end_node,
                              std::span<const EdgePiece> pieces) = 0;
};

std::unique_ptr<ListBuilder> make_list_builder(const ListOptions& options);

/// How much memory building lists takes, for each entry and for each node.
std::uint64_t list_bytes_per_entry(const ListOptions& options);
inline constexpr std::uint64_t kListBytesPerNode = 16;

}  // namespace graphmount
