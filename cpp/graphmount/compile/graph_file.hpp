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
#include "graphmount/graph/ids/node_id_table.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// What a graph file will hold: all that must be known before its first byte.
struct GraphLayout {
  std::uint64_t num_nodes = 0;
  std::uint64_t num_edges = 0;        // entries of the lists of one direction
  std::uint64_t num_rows = 0;         // of the source
  std::vector<Direction> directions;  // the first one numbers the edges
  bool undirected = false;
  bool has_weights = false;
  bool has_times = false;
  bool has_source_rows = false;
  bool wide_indices = false;
  std::uint64_t table_memory = kTableMemory;  // for making the table of ids, of each thread
};

class GraphFile {
 public:
  /// `node_ids` must live as long as the file. Throws SourceError if two of them are equal.
  GraphFile(const std::filesystem::path& path, const GraphLayout& layout,
            const ExternalIds& node_ids);

  /// The lists of the next nodes of the direction being written. The `rows` of lists of the second
  /// direction are edge ids. Throws SourceError.
  void append(const NeighborLists& lists);
  /// The lists that follow are those of the next direction.
  void next_direction();
  /// After the last lists: the file appears. Returns its size.
  std::uint64_t finish();

 private:
  struct Streams {
    std::optional<SectionStream> indptr, indices, weights, alias, times, rows;
    std::uint64_t num_entries = 0;  // so far
  };

  void open(const std::filesystem::path& path);
  void begin_direction();
  void end_direction();
  void append_offsets(std::span<const std::int64_t> offsets);
  void append_alias(const NeighborLists& lists);
  void append_integers(SectionStream& stream, std::span<const std::int64_t> values);
  void write_node_ids();
  void write_section(SectionKind kind, std::span<const std::byte> data);
  SectionStream section_stream(SectionKind kind);
  SectionStream next_section() { return {*writer_, next_section_++}; }

  GraphLayout layout_;
  const ExternalIds& node_ids_;
  std::unique_ptr<FormatWriter> writer_;
  std::size_t next_section_ = 0, direction_ = 0;
  Streams streams_;
  Buffer<std::int64_t> offsets_;
  Buffer<std::uint64_t> alias_;
  Buffer<std::int32_t> narrow_;
};

}  // namespace graphmount
