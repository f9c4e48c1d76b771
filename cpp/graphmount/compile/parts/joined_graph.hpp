// Writes a .gl file from lists that other processes have made, by the writer of the compiler: the
// bytes are those that it writes of the same edges.
#pragma once

#include <cstdint>
#include <filesystem>

#include "graphmount/compile/graph_file.hpp"

namespace graphmount {

class JoinedGraph {
 public:
  /// `node_ids` must live as long as this. Throws SourceError if two ids are equal.
  JoinedGraph(const std::filesystem::path& path, const GraphOptions& options,
              const GraphCounts& counts, const ExternalIds& node_ids);

  /// The lists of the next nodes. Throws std::invalid_argument if they are not such as a ListPart
  /// makes, or not the next ones; SourceError, IoError.
  void append(const NeighborLists& lists);
  /// The outgoing lists follow, after those of all nodes.
  void begin_second();
  /// The file appears. Returns its size. Throws if lists are missing.
  std::uint64_t finish();

 private:
  void require_all() const;

  const GraphOptions options_;
  const GraphCounts counts_;
  Direction direction_;
  std::uint64_t next_node_ = 0;
  GraphFile file_;
};

}  // namespace graphmount
