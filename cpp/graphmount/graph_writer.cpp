#include "graphmount/graph_writer.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "graphmount/alias_table.hpp"
#include "graphmount/checksum.hpp"
#include "graphmount/error.hpp"
#include "graphmount/format_writer.hpp"
#include "graphmount/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kInt32Range = std::uint64_t{1} << 31;

DType integer_dtype(std::uint64_t values_below, bool wide = false) {
  return values_below <= kInt32Range && !wide ? DType::kInt32 : DType::kInt64;
}

std::uint64_t find_num_nodes(const EdgeColumns& edges, const ExternalIds& node_ids,
                             const GraphOptions& options) {
  if (!node_ids.empty()) {
    if (options.num_nodes && *options.num_nodes != node_ids.size())
      throw std::invalid_argument("num_nodes=" + std::to_string(*options.num_nodes) +
                                  " does not fit " + std::to_string(node_ids.size()) +
                                  " node_ids; leave num_nodes out");
    return node_ids.size();
  }
  if (options.num_nodes) return *options.num_nodes;
  NodeId largest = -1;
  for (const auto& column : {edges.src, edges.dst})
    for (const NodeId id : column) largest = std::max(largest, id);
  return static_cast<std::uint64_t>(largest) + 1;
}

// Builds the sections of one graph and writes them in the order of the header.
class GraphWriter {
 public:
  GraphWriter(const std::filesystem::path& path, const EdgeColumns& edges,
              const ExternalIds& node_ids, const GraphOptions& options, const Progress& progress)
      : path_(path), edges_(edges), node_ids_(node_ids), options_(options), progress_(progress) {
    lists_.num_nodes = find_num_nodes(edges, node_ids, options);
    if (lists_.num_nodes > kMaxNodes)
      throw std::invalid_argument(std::to_string(lists_.num_nodes) +
                                  " nodes are too many for any file");
    lists_.undirected = options.undirected;
    lists_.dedup = options.dedup;
    lists_.drop_self_loops = options.drop_self_loops;
    lists_.keep_rows = options.keep_source_rows || options.dedup == Dedup::kSumWeights;
  }

  GraphSummary run() {
    const bool has_in = options_.in_lists || options_.undirected;
    const Direction first = has_in ? Direction::kIn : Direction::kOut;
    const bool has_second = has_in && options_.out_lists && !options_.undirected;
    num_steps_ = has_second ? 6 : 4;
    step();
    check_edges(edges_, lists_.num_nodes);
    const std::vector<NodeId> id_order = sorted_order(node_ids_);
    step();
    NeighborLists lists = build_lists(edges_, first, lists_);
    const std::uint64_t num_edges = lists.neighbors.size();
    step();
    open(num_edges, first, has_second);
    write_lists(lists, false);
    if (has_second) {
      step();
      lists.rows = {};
      lists = reverse_lists(lists);  // whose rows are edge ids: positions in the incoming lists
      step();
      write_lists(lists, true);
    }
    step();
    write_node_ids(id_order);
    writer_->finish();
    step();
    return {lists_.num_nodes, num_edges, writer_->header().file_bytes};
  }

 private:
  void step() {
    if (progress_) progress_(steps_done_, num_steps_);
    ++steps_done_;
  }

  void open(std::uint64_t num_edges, Direction first, bool has_second) {
    Header header{.kind = FileKind::kGraph,
                  .flags = (options_.undirected ? kFlagUndirected : 0) |
                           (edges_.times ? kFlagSortedByTime : 0),
                  .num_rows = lists_.num_nodes,
                  .num_columns = num_edges,
                  .order = node_ids_.empty() ? 0 : order_fingerprint()};
    const auto add = [&](SectionKind kind, Direction direction, DType dtype, std::uint64_t rows) {
      header.sections.push_back(
          {.kind = kind, .direction = direction, .dtype = dtype, .rows = rows});
    };
    const auto add_lists = [&](Direction direction) {
      add(SectionKind::kIndptr, direction, DType::kInt64, lists_.num_nodes + 1);
      add(SectionKind::kIndices, direction, integer_dtype(lists_.num_nodes, options_.wide_indices),
          num_edges);
      if (edges_.weights) {
        add(SectionKind::kWeights, direction, DType::kFloat32, num_edges);
        add(SectionKind::kAlias, direction, DType::kInt64, num_edges);
      }
      if (edges_.times) add(SectionKind::kTimestamps, direction, DType::kInt64, num_edges);
      if (direction != first)
        add(SectionKind::kEdgeIds, direction, integer_dtype(num_edges), num_edges);
      else if (options_.keep_source_rows)
        add(SectionKind::kSourceRows, direction, integer_dtype(edges_.size()), num_edges);
    };
    add_lists(first);
    if (has_second) add_lists(Direction::kOut);
    if (!node_ids_.names.empty()) {
      std::uint64_t bytes = 0;
      for (const std::string& name : node_ids_.names) bytes += name.size();
      add(SectionKind::kNodeNameOffsets, Direction::kNone, DType::kInt64, lists_.num_nodes + 1);
      add(SectionKind::kNodeNameBytes, Direction::kNone, DType::kUInt8, bytes);
    } else if (!node_ids_.numbers.empty()) {
      add(SectionKind::kNodeIds, Direction::kNone, DType::kInt64, lists_.num_nodes);
    }
    if (!node_ids_.empty())
      add(SectionKind::kNodeIdOrder, Direction::kNone, integer_dtype(lists_.num_nodes),
          lists_.num_nodes);
    writer_ = std::make_unique<FormatWriter>(path_, std::move(header));
  }

  // Two files have the same fingerprint if node i is the same node of the source in both.
  std::uint64_t order_fingerprint() const {
    std::uint64_t fingerprint = 0;
    if (node_ids_.names.empty()) {
      fingerprint = xxh64(std::as_bytes(node_ids_.numbers));
    } else {
      std::vector<std::uint64_t> hashes;
      hashes.reserve(node_ids_.names.size());
      for (const std::string& name : node_ids_.names)
        hashes.push_back(xxh64(std::as_bytes(std::span(name))));
      fingerprint = xxh64(std::as_bytes(std::span(hashes)));
    }
    return fingerprint == 0 ? 1 : fingerprint;
  }

  // In the order in which `open` added them. In the second lists, `rows` holds edge ids.
  void write_lists(const NeighborLists& lists, bool is_second) {
    write_next<std::int64_t>(lists.indptr);
    write_next_integers(lists.neighbors);
    if (edges_.weights) {
      write_next<float>(lists.weights);
      write_alias(lists);
    }
    if (edges_.times) write_next<std::int64_t>(lists.times);
    if (is_second || options_.keep_source_rows) write_next_integers(lists.rows);
  }

  void write_alias(const NeighborLists& lists) {
    std::vector<std::uint64_t> table(lists.weights.size());
    const auto num_nodes = static_cast<std::int64_t>(lists_.num_nodes);
    parallel_for(num_nodes, 1 << 10, [&](std::int64_t begin, std::int64_t end) {
      AliasScratch scratch;
      for (auto node = static_cast<std::size_t>(begin); node < static_cast<std::size_t>(end);
           ++node) {
        const auto first = static_cast<std::size_t>(lists.indptr[node]);
        const auto length = static_cast<std::size_t>(lists.indptr[node + 1]) - first;
        if (length >= UINT32_MAX)
          throw SourceError("node " + std::to_string(node) +
                            " has more weighted neighbors than 2^32");
        build_alias(std::span(lists.weights).subspan(first, length),
                    std::span(table).subspan(first, length), scratch);
      }
    });
    write_next<std::uint64_t>(table);
  }

  void write_node_ids(const std::vector<NodeId>& id_order) {
    if (node_ids_.empty()) return;
    if (node_ids_.names.empty()) {
      write_next(node_ids_.numbers);
    } else {
      std::vector<std::int64_t> offsets = {0};
      std::string bytes;
      for (const std::string& name : node_ids_.names) {
        bytes += name;
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
      }
      write_next<std::int64_t>(offsets);
      write_next<char>(bytes);
    }
    write_next_integers(id_order);
  }

  template <class Item>
  void write_next(std::span<const Item> items) {
    writer_->write(next_++, 0, std::as_bytes(items));
  }

  // As int32 where the section is.
  void write_next_integers(const std::vector<std::int64_t>& values) {
    if (writer_->header().sections[next_].dtype == DType::kInt64)
      return write_next<std::int64_t>(values);
    std::vector<std::int32_t> narrow(values.size());
    std::transform(values.begin(), values.end(), narrow.begin(),
                   [](std::int64_t value) { return static_cast<std::int32_t>(value); });
    write_next<std::int32_t>(narrow);
  }

  std::filesystem::path path_;
  const EdgeColumns& edges_;
  const ExternalIds& node_ids_;
  const GraphOptions& options_;
  const Progress& progress_;
  ListOptions lists_;
  std::unique_ptr<FormatWriter> writer_;
  std::size_t next_ = 0;  // section to be written next
  std::uint64_t steps_done_ = 0, num_steps_ = 0;
};

}  // namespace

GraphSummary write_graph(const std::filesystem::path& path, const EdgeColumns& edges,
                         const ExternalIds& node_ids, const GraphOptions& options,
                         const Progress& progress) {
  if (edges.src.size() != edges.dst.size())
    throw std::invalid_argument("src has " + std::to_string(edges.src.size()) +
                                " entries and dst has " + std::to_string(edges.dst.size()));
  const auto check_size = [&](const auto& column, const std::string& name) {
    if (column && column->size() != edges.size())
      throw std::invalid_argument(name + " has " + std::to_string(column->size()) +
                                  " entries for " + std::to_string(edges.size()) + " edges");
  };
  check_size(edges.weights, "weights");
  check_size(edges.times, "timestamps");
  if (!options.in_lists && !options.out_lists)
    throw std::invalid_argument("a graph needs lists in at least one direction");
  if (options.dedup == Dedup::kSumWeights && !edges.weights)
    throw std::invalid_argument("dedup='sum' adds up weights, but no weights are given");
  return GraphWriter(path, edges, node_ids, options, progress).run();
}

}  // namespace graphmount
