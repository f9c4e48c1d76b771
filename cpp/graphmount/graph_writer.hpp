// Writes a .gl file from edges that are in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "graphmount/neighbor_lists.hpp"
#include "graphmount/node_ids.hpp"
#include "graphmount/progress.hpp"

namespace graphmount {

struct GraphOptions {
  std::optional<std::uint64_t> num_nodes;  // found as the largest id + 1 if not given
  bool in_lists = true;
  bool out_lists = true;
  bool undirected = false;
  Dedup dedup = Dedup::kKeepAll;
  bool drop_self_loops = false;
  bool wide_indices = false;  // int64 even where int32 would do
  bool keep_source_rows = false;
};

struct GraphSummary {
  std::uint64_t num_nodes = 0;
  std::uint64_t num_edges = 0;
  std::uint64_t file_bytes = 0;
};

/// Throws SourceError, std::invalid_argument, IoError; the file appears only if nothing is thrown.
/// Progress is counted in steps of about the same length.
GraphSummary write_graph(const std::filesystem::path& path, const EdgeColumns& edges,
                         const ExternalIds& node_ids, const GraphOptions& options,
                         const Progress& progress);

}  // namespace graphmount
