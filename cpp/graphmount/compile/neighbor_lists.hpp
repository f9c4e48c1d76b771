// Sorts the entries of a range of nodes into their neighbor lists, in memory.
//
// The result does not depend on the number of threads: lists are sorted by neighbor (for temporal
// graphs by time, then neighbor), equal entries by the order in which they came.
#pragma once

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
