// A mounted graph (.gl): neighbor lists in compressed sparse rows, one set for each direction.
//
// The edges of a square graph connect nodes of one type. Those of a rectangular graph lead from
// sources of one type to destinations of another, which are numbered and ordered each by itself.
//
// Opening checks the header and the section table but reads no data, so the calls here check every
// offset and id they follow: a damaged file gives a FormatError, never a wrong access.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "graphmount/format/mount.hpp"
#include "graphmount/graph/page_requests.hpp"

namespace graphmount {

/// Positions of a node's neighbors in its direction's lists.
struct ListRange {
  EdgeId begin;
  EdgeId end;
};

class Graph {
 public:
  /// Throws FormatError, IoError.
  explicit Graph(const std::filesystem::path& path);
  explicit Graph(std::shared_ptr<MappedFile> file);

  const Mount& mount() const { return mount_; }
  bool is_rectangular() const { return mount_.header().has(kFlagRectangular); }
  /// Of a square graph. Throws MissingDataError for a rectangular one.
  std::uint64_t num_nodes() const {
    if (is_rectangular()) [[unlikely]]
      refuse_rectangular();
    return mount_.header().num_rows;
  }
  std::uint64_t num_sources() const { return mount_.header().num_sources; }
  std::uint64_t num_destinations() const { return mount_.header().num_rows; }
  /// How many lists a direction has: one for each destination (in), or each source (out).
  std::uint64_t num_lists(Direction direction) const {
    return direction == Direction::kOut ? num_sources() : num_destinations();
  }
  /// How many ids the neighbors in the lists of a direction can have.
  std::uint64_t num_neighbors(Direction direction) const {
    return direction == Direction::kOut ? num_destinations() : num_sources();
  }
  /// Fingerprint of the order of the nodes, or of the destinations.
  std::uint64_t order() const { return mount_.header().order; }
  std::uint64_t source_order() const { return mount_.header().source_order; }
  std::uint64_t num_edges() const { return mount_.header().num_columns; }
  bool is_undirected() const { return mount_.header().has(kFlagUndirected); }
  bool has_lists(Direction direction) const;

  /// Where lists of this direction are stored: an undirected graph keeps one copy for both. Throws
  /// MissingDataError if the file has none.
  Direction stored_direction(Direction direction) const;

  /// The direction whose positions are the edge ids: incoming where the file has it.
  Direction edge_id_direction() const {
    return has_lists(Direction::kIn) ? Direction::kIn : Direction::kOut;
  }

  /// A section of a direction's lists; nullptr if the graph was compiled without it.
  const Section* find(SectionKind kind, Direction direction) const {
    return mount_.header().find(kind, stored_direction(direction));
  }

  /// Degrees of `nodes`, of which there are as many as places in `out`.
  void degrees(std::span<const NodeId> nodes, Direction direction,
               std::span<std::int64_t> out) const;

  /// Degrees of all nodes.
  void all_degrees(Direction direction, std::span<std::int64_t> out) const;

  /// Where a node's list is, after checking that every id in it is a node.
  ListRange neighbor_range(NodeId node, Direction direction) const;

  /// Starts reading the lists of these nodes, and returns the bytes asked for. Waits only for the
  /// offsets, which say where the lists are.
  std::uint64_t prefetch(std::span<const NodeId> nodes, Direction direction) const;

  /// What is known of the file's pages: for calls that read many of them.
  ResidentPages& resident_pages() const { return resident_pages_; }

  /// Throws the FormatError for damage, and says how to find all of it.
  [[noreturn]] void refuse(const std::string& problem) const;
  /// Throw the FormatError for a list, a neighbor or an edge id that is impossible.
  [[noreturn]] void refuse_range(NodeId node, ListRange range, Direction stored) const;
  [[noreturn]] void refuse_neighbor(EdgeId position, NodeId neighbor, Direction stored) const;
  [[noreturn]] void refuse_edge_id(EdgeId position, EdgeId id, Direction stored) const;
  [[noreturn]] void refuse_source_row(const Section& rows, EdgeId edge, std::int64_t row) const;

 private:
  [[noreturn]] void refuse_rectangular() const;
  void check_sections() const;
  void check_lists(Direction direction) const;
  void check_node_ids() const;

  Mount mount_;
  mutable ResidentPages resident_pages_;
};

}  // namespace graphmount
