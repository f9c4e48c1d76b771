// Compiles edges, taken batch by batch, into a .gl file, within a budget of memory.
//
// Entries are spooled by owner, each bucket of the spool is sorted in memory, and its lists are
// written behind those of the bucket before. The lists of the second direction are made from those
// of the first, whose places are the edge ids. All I/O is sequential.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "graphmount/base/progress.hpp"
#include "graphmount/compile/edges/edge_columns.hpp"
#include "graphmount/compile/edges/edge_spool.hpp"
#include "graphmount/compile/graph_file.hpp"
#include "graphmount/compile/neighbor_lists.hpp"
#include "graphmount/compile/new_ids.hpp"
#include "graphmount/graph/ids/external_ids.hpp"

namespace graphmount {

struct GraphSummary {
  std::uint64_t num_nodes = 0;  // destinations, if sources are of another type
  std::uint64_t num_edges = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t spilled_bytes = 0;  // written to temporary files
  std::uint64_t num_sources = 0;
};

/// What the nodes at one end of the edges become in the graph.
struct FinalNodes {
  std::uint64_t count = 0;  // at least as many as the edges name
  std::uint64_t order = 0;  // their fingerprint
  NewIds new_ids{};
};

/// After `finish`, successful or not, every other call throws std::invalid_argument.
class GraphCompiler {
 public:
  /// Throws std::invalid_argument if options contradict each other.
  explicit GraphCompiler(const GraphOptions& options);

  /// The next edges. Throws SourceError, naming the row, for an id or weight that cannot be; then
  /// none of them has been added.
  void add(const EdgeColumns& edges);
  std::uint64_t num_rows() const { return num_rows_; }
  /// How many nodes there will be, by the options or by the edges so far. In a square graph, the
  /// two ends of edges have as many.
  std::uint64_t num_sources() const;
  std::uint64_t num_destinations() const;
  std::uint64_t num_nodes() const { return num_destinations(); }
  /// The direction of the lists that are made first, which are those that sampling reads.
  Direction first_direction() const { return options_.first_direction(); }

  /// How many nodes can appear in the lists that are made first, which are those that sampling
  /// reads: all sources, or all destinations if there are only outgoing lists.
  std::uint64_t num_appearing() const {
    return options_.first_direction() == Direction::kIn ? num_sources() : num_destinations();
  }
  /// How many entries these lists have, as long as none is dropped.
  std::uint64_t num_entries() const;
  /// Adds up how often each of these nodes appears, to at most 2^32 - 1. Tells, now and then and
  /// from the calling thread, how many more entries were counted. Throws std::invalid_argument if
  /// there are fewer counts than nodes.
  void add_appearances(std::span<std::uint32_t> counts,
                       const std::function<void(std::uint64_t entries)>& has_counted) const;

  /// How much memory the edges take that wait to be written.
  std::uint64_t waiting_bytes() const;
  /// Changes the budget, of which the user gave `parts` times as much: edges that wait go to the
  /// disk if they would take more than half of it.
  void set_memory(std::uint64_t memory, std::uint64_t parts);

  /// Writes the file, which appears only if nothing is thrown: SourceError, BudgetError,
  /// std::invalid_argument, IoError. With `new_ids`, node i of the edges becomes node new_ids[i] of
  /// the graph; each number is used once. `node_ids` are those of the nodes of the graph. Progress
  /// is counted in list entries. May be called once.
  GraphSummary finish(const std::filesystem::path& path, const ExternalIds& node_ids,
                      const NewIds& new_ids, const Progress& progress);

  /// The same for a graph whose external ids are in other files. In a square graph, both ends are
  /// the same nodes.
  GraphSummary finish_between(const std::filesystem::path& path, const FinalNodes& sources,
                              const FinalNodes& destinations, const Progress& progress);

 private:
  void require_open() const;
  EdgeEnds ends() const;
  void require_plausible(std::uint64_t count, bool is_given) const;
  void require_space(const std::filesystem::path& path) const;
  GraphSummary write(const std::filesystem::path& path, const ExternalIds& node_ids,
                     const FinalNodes& sources, const FinalNodes& destinations);
  void renumber(const NewIds& new_sources, const NewIds& new_destinations);
  ListOptions list_options(EntryParts parts, Direction direction) const;
  EntryParts second_parts() const { return {true, options_.has_weights, options_.has_times}; }
  std::string advise_memory(const ListOptions& options, std::uint64_t entries) const;
  std::uint64_t count_edges();
  void write_lists(EdgeSpool& spool, Direction direction, const ListOptions& options,
                   GraphFile& file, EdgeSpool* second);
  template <class Use>
  void for_each_lists(EdgeSpool& spool, const ListOptions& options, std::uint64_t end_node,
                      const Use& use);
  void advance(std::uint64_t entries);

  GraphOptions options_;
  EntryParts parts_;
  std::unique_ptr<EdgeSpool> spool_;
  GraphCounts counts_;  // complete since `finish`
  std::uint64_t num_rows_ = 0, spilled_bytes_ = 0;
  NodeId largest_dropped_ = -1;         // loops that are dropped still show that a node exists
  const Progress* progress_ = nullptr;  // since `finish`
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace graphmount
