#include "graphmount/graph/graph.hpp"

#include <algorithm>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/graph/list_view.hpp"
#include "graphmount/graph/node_id_file.hpp"
#include "graphmount/system/mapping/prefetch.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kMaxNodesOfInt32 = std::uint64_t{1} << 31;

/// The sections of neighbor lists. Integers may be int32 where that can hold them.
struct ListKind {
  SectionKind kind;
  DType dtype;
  bool may_be_int32 = false;
  const char* problem = "is neither int32 nor int64";  // if it is of another dtype
};
constexpr ListKind kListKinds[] = {
    {SectionKind::kIndptr, DType::kInt64, false, "is not int64"},
    {SectionKind::kIndices, DType::kInt64, true},
    {SectionKind::kWeights, DType::kFloat32, false, "is not float32"},
    {SectionKind::kAlias, DType::kInt64, false, "is not int64"},
    {SectionKind::kEdgeIds, DType::kInt64, true},
    {SectionKind::kTimestamps, DType::kInt64, false, "is not int64"},
    {SectionKind::kSourceRows, DType::kInt64, true}};

}  // namespace

Graph::Graph(const std::filesystem::path& path) : Graph(MappedFile::open(path)) {}

Graph::Graph(std::shared_ptr<MappedFile> file)
    : mount_(std::move(file), FileKind::kGraph),
      resident_pages_(mount_.file(), mount_.header().sections) {
  check_sections();
}

bool Graph::has_lists(Direction direction) const {
  return mount_.header().find(SectionKind::kIndptr, direction) != nullptr;
}

void Graph::check_sections() const {
  const Header& header = mount_.header();
  const std::string& path = mount_.file().path();
  if (num_destinations() >= INT64_MAX || num_sources() >= INT64_MAX)
    throw FormatError(path, "the number of nodes exceeds 2^63");
  if (is_rectangular() && is_undirected())
    throw FormatError(path, "the edges are marked as undirected, but lead to another node type");
  if (header.has(kFlagOneDimensional)) throw FormatError(path, "a graph is marked as a vector");
  if (!has_lists(Direction::kIn) && !has_lists(Direction::kOut))
    throw FormatError(path, "there are no neighbor lists");
  if (is_undirected() && has_lists(Direction::kOut))
    throw FormatError(path, "an undirected graph has lists of its own for one direction");
  for (const Section& section : header.sections) {
    const bool is_list =
        std::ranges::find(kListKinds, section.kind, &ListKind::kind) != std::end(kListKinds);
    if (static_cast<std::uint16_t>(section.kind) >= kFirstOptionalKind) continue;
    if (is_list != (section.direction != Direction::kNone) ||
        (is_list && !has_lists(section.direction)))
      throw FormatError(path, "section " + section.name() + " does not belong into this graph");
    if (section.columns != 1)
      throw FormatError(
          path, say("section ", section.name(), " has ", section.columns, " columns instead of 1"));
  }
  for (const Direction direction : {Direction::kIn, Direction::kOut})
    if (has_lists(direction)) check_lists(direction);
  if (has_lists(Direction::kIn) && has_lists(Direction::kOut)) {
    for (const SectionKind kind : {SectionKind::kWeights, SectionKind::kTimestamps})
      if ((header.find(kind, Direction::kIn) == nullptr) !=
          (header.find(kind, Direction::kOut) == nullptr))
        throw FormatError(path, "only one direction has " + std::string(section_name(kind)));
  }
  check_node_ids();
}

void Graph::check_lists(Direction direction) const {
  const Header& header = mount_.header();
  const auto require = [&](bool fine, SectionKind kind, const std::string& problem) {
    if (!fine)
      throw FormatError(
          mount_.file().path(),
          "section " + Section{.kind = kind, .direction = direction}.name() + " " + problem);
  };
  const auto find = [&](SectionKind kind) { return header.find(kind, direction); };
  require(find(SectionKind::kIndices) != nullptr, SectionKind::kIndices, "is missing");
  for (const ListKind& known : kListKinds) {
    const Section* section = find(known.kind);
    if (section == nullptr) continue;
    require(
        section->dtype == known.dtype || (known.may_be_int32 && section->dtype == DType::kInt32),
        known.kind, known.problem);
    const bool is_offsets = known.kind == SectionKind::kIndptr;
    require(section->rows == (is_offsets ? num_lists(direction) + 1 : num_edges()), known.kind,
            is_offsets ? say("has ", section->rows, " entries for ", num_lists(direction), " nodes")
                       : say("has ", section->rows, " entries for ", num_edges(), " edges"));
  }
  require(find(SectionKind::kIndices)->dtype == DType::kInt64 ||
              num_neighbors(direction) <= kMaxNodesOfInt32,
          SectionKind::kIndices, "is int32, too small for the number of nodes");
  require((find(SectionKind::kWeights) == nullptr) == (find(SectionKind::kAlias) == nullptr),
          SectionKind::kAlias, "does not go with the weights");
  require(find(SectionKind::kTimestamps) != nullptr || !header.has(kFlagSortedByTime),
          SectionKind::kTimestamps, "is missing, but the lists are marked as sorted by time");
  const bool needs_edge_ids = direction != edge_id_direction();
  require((find(SectionKind::kEdgeIds) != nullptr) == needs_edge_ids, SectionKind::kEdgeIds,
          needs_edge_ids ? "is missing" : "is not needed here");
}

void Graph::check_node_ids() const {
  if (check_node_id_sections(mount_, num_destinations()) && is_rectangular())
    throw FormatError(mount_.file().path(),
                      "a graph between two node types has external ids of one of them");
}

Direction Graph::stored_direction(Direction direction) const {
  if (is_undirected() && direction != Direction::kNone) return Direction::kIn;
  if (has_lists(direction)) return direction;
  const std::string name(direction_name(direction));
  throw MissingDataError(mount_.file().path(),
                         "the file has no neighbor lists for direction='" + name +
                             "'; compile the graph with neighbors='both' or neighbors='" + name +
                             "', or ask for the other direction");
}

void Graph::refuse_rectangular() const {
  throw MissingDataError(
      mount_.file().path(),
      say("the edges lead from ", num_sources(), " nodes of one type to ", num_destinations(),
          " nodes of another, and this call is for edges between nodes of one "
          "type; a dataset of many node types samples along all its relations"));
}

void Graph::refuse(const std::string& problem) const {
  mount_.refuse(problem);
}

void Graph::refuse_range(NodeId node, ListRange range, Direction stored) const {
  refuse(say("the list of node ", node, " (", direction_name(stored), ") goes from ", range.begin,
             " to ", range.end, " of ", num_edges()));
}

void Graph::refuse_neighbor(EdgeId position, NodeId neighbor, Direction stored) const {
  refuse(say("the neighbor at position ", position, " of the lists (", direction_name(stored),
             ") is ", neighbor, " of ", num_neighbors(stored), " nodes"));
}

void Graph::refuse_edge_id(EdgeId position, EdgeId id, Direction stored) const {
  refuse(say("the edge id at position ", position, " of the lists (", direction_name(stored),
             ") is ", id, " in a graph of ", num_edges(), " edges"));
}

void Graph::refuse_source_row(const Section& rows, EdgeId edge, std::int64_t row) const {
  const auto item = static_cast<std::uint64_t>(edge);
  refuse(say("section ", rows.name(), ", byte ",
             rows.offset + item * traits_of(rows.dtype).item_bytes, ": source row ", row));
}

void Graph::degrees(std::span<const NodeId> nodes, Direction direction,
                    std::span<std::int64_t> out) const {
  const std::size_t grain = balanced_grain(nodes.size(), 1 << 14);
  read_lists(*this, direction, [&](const auto& lists) {
    parallel_for(nodes.size(), grain, [&](std::size_t begin, std::size_t end) {
      for_each_id(
          nodes, begin, end, lists.num_lists(), "node",
          [lists, out](std::size_t i, NodeId node) { out[i] = lists.degree(node); },
          [lists](NodeId node) { lists.prefetch_range(node); });
    });
  });
}

void Graph::all_degrees(Direction direction, std::span<std::int64_t> out) const {
  read_lists(*this, direction, [&](const auto& lists) {
    parallel_each(lists.num_lists(), balanced_grain(lists.num_lists(), 1 << 16),
                  [lists, out](std::size_t i) { out[i] = lists.degree(static_cast<NodeId>(i)); });
  });
}

ListRange Graph::neighbor_range(NodeId node, Direction direction) const {
  stored_direction(direction);  // what the file lacks comes first
  require_ids({&node, 1}, num_lists(direction), "node");
  return read_lists(*this, direction, [&](const auto& lists) {
    const ListRange range = lists.range(node);
    for (EdgeId position = range.begin; position < range.end; ++position)
      if (const NodeId neighbor = lists.indices()[position];
          static_cast<std::uint64_t>(neighbor) >= lists.num_neighbors())
        refuse(say("node ", node, " has the neighbor ", neighbor, " of ", lists.num_neighbors(),
                   " nodes"));
    return range;
  });
}

std::uint64_t Graph::prefetch(std::span<const NodeId> nodes, Direction direction) const {
  const Direction stored = stored_direction(direction);
  require_ids(nodes, num_lists(direction), "node");
  const Header& header = mount_.header();
  const Section& indptr = *header.find(SectionKind::kIndptr, stored);
  std::vector<ByteRange> ranges;
  interruptible_for(nodes.size(), [&](std::size_t i) {
    const std::uint64_t at = indptr.offset + static_cast<std::uint64_t>(nodes[i]) * 8;
    ranges.push_back({at, at + 16});
  });
  // The offsets first, all at once: they say where the lists are.
  std::uint64_t bytes = prefetch_ranges(mount_.file(), std::move(ranges));
  ranges = {};
  read_lists(*this, direction, [&](const auto& lists) {
    interruptible_for(nodes.size(), [&](std::size_t i) {
      const ListRange range = lists.range(nodes[i]);
      for (const ListKind& known : kListKinds) {
        const Section* section = header.find(known.kind, stored);
        if (section == nullptr || known.kind == SectionKind::kIndptr) continue;
        const std::uint64_t item = traits_of(section->dtype).item_bytes;
        ranges.push_back({section->offset + static_cast<std::uint64_t>(range.begin) * item,
                          section->offset + static_cast<std::uint64_t>(range.end) * item});
      }
    });
  });
  return bytes + prefetch_ranges(mount_.file(), std::move(ranges));
}

}  // namespace graphmount
