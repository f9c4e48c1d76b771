// Writes the sections of a .gl file from neighbor lists that come in the order of their nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "graphmount/compile/neighbor_lists.hpp"
#include "graphmount/format/section_stream.hpp"
#include "graphmount/graph/ids/external_ids.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

struct GraphOptions {
  std::optional<std::uint64_t> num_nodes;  // found as the largest id + 1 if not given
  /// Whether sources are of another node type than destinations. Then `num_nodes` is the number of
  /// destinations, and `num_sources` is found in the same way if it is not given.
  bool rectangular = false;
  std::optional<std::uint64_t> num_sources{};
  bool in_lists = true;
  bool out_lists = true;
  bool undirected = false;
  bool has_weights = false;
  bool has_times = false;
  Dedup dedup = Dedup::kKeepAll;
  bool drop_self_loops = false;
  bool wide_indices = false;  // int64 even where int32 would do
  bool keep_source_rows = false;
  std::uint64_t memory = std::uint64_t{2} << 30;  // about what may be used
  std::uint64_t memory_parts = 1;                 // of so many that the user gave, for messages
  /// What may be used while edges come in, if that is less, since other compilers wait beside it.
  std::optional<std::uint64_t> waiting_memory{};
  std::filesystem::path folder = ".";  // for temporary files

  /// The lists that are made first, whose positions are the ids of edges.
  Direction first_direction() const {
    return in_lists || undirected ? Direction::kIn : Direction::kOut;
  }
  /// Whether outgoing lists follow.
  bool has_second() const { return in_lists && out_lists && !undirected; }
};

/// What must be known besides before the first byte of a file is written.
struct GraphCounts {
  std::uint64_t sources = 0;
  std::uint64_t destinations = 0;  // as many as sources, unless these are of another type
  std::uint64_t edges = 0;         // entries of the lists of one direction
  std::uint64_t rows = 0;          // of the source

  /// As in Graph.
  std::uint64_t lists(Direction direction) const {
    return direction == Direction::kOut ? sources : destinations;
  }
  std::uint64_t neighbors(Direction direction) const {
    return direction == Direction::kOut ? destinations : sources;
  }
};

/// Fingerprints of the orders of nodes, in graphs whose external ids are in other files.
struct NodeOrders {
  std::uint64_t sources = 0;
  std::uint64_t destinations = 0;
};

class GraphFile {
 public:
  /// Options and `node_ids` must live as long as the file. Without ids, the nodes have `orders`.
  /// Throws SourceError if two ids are equal.
  GraphFile(const std::filesystem::path& path, const GraphOptions& options,
            const GraphCounts& counts, const ExternalIds& node_ids, const NodeOrders& orders = {});

  /// The lists of the next nodes of the direction being written. The `rows` of lists of the second
  /// direction are edge ids. Throws SourceError.
  void append(const NeighborLists& lists);
  /// The lists that follow are those of this direction.
  void begin_lists(Direction direction);
  /// After the last lists: the file appears. Returns its size.
  std::uint64_t finish();

 private:
  void open(const std::filesystem::path& path, const GraphCounts& counts, const NodeOrders& orders);
  /// Where the next bytes of a section of this direction go; nullptr if the file has no such.
  SectionStream* find(SectionKind kind, Direction direction);
  SectionStream* find(SectionKind kind) { return find(kind, direction_); }
  void append_offsets(std::span<const std::int64_t> offsets);
  void append_alias(const NeighborLists& lists);
  void append_integers(SectionStream& stream, std::span<const std::int64_t> values);
  void write_node_ids();

  const GraphOptions& options_;
  const ExternalIds& node_ids_;
  std::unique_ptr<FormatWriter> writer_;
  std::vector<SectionStream> streams_;      // of each section of the header
  Direction direction_ = Direction::kNone;  // of the lists being written,
  std::uint64_t num_entries_ = 0;           // and how many entries they have so far
  Buffer<std::int64_t> offsets_;
  Buffer<std::uint64_t> alias_;
  Buffer<std::int32_t> narrow_;
};

}  // namespace graphmount
