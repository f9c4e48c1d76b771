#include "graphmount/compile/graph_file.hpp"

#include <algorithm>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/alias_table.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kInt32Range = std::uint64_t{1} << 31;
constexpr std::size_t kPieceItems = 1 << 20;

DType integer_dtype(std::uint64_t values_below, bool wide = false) {
  return values_below <= kInt32Range && !wide ? DType::kInt32 : DType::kInt64;
}

// Two files have the same fingerprint if node i is the same node of the source in both.
std::uint64_t order_fingerprint(const ExternalIds& ids) {
  std::uint64_t fingerprint = 0;
  if (!ids.names.empty()) {
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(ids.size()));
    for (std::size_t i = 0; i < hashes.size(); ++i)
      hashes[i] = xxh64(std::as_bytes(std::span(ids.names[i])));
    fingerprint = xxh64(std::as_bytes(std::span(hashes)));
  } else if (!ids.numbers.empty()) {
    fingerprint = xxh64(std::as_bytes(ids.numbers));
  } else {
    return 0;
  }
  return fingerprint == 0 ? 1 : fingerprint;
}

}  // namespace

GraphFile::GraphFile(const std::filesystem::path& path, const GraphLayout& layout,
                     const ExternalIds& node_ids)
    : layout_(layout), node_ids_(node_ids) {
  open(path);
  write_node_ids();
  begin_direction();
}

void GraphFile::open(const std::filesystem::path& path) {
  Header header{.kind = FileKind::kGraph,
                .flags = (layout_.undirected ? kFlagUndirected : 0) |
                         (layout_.has_times ? kFlagSortedByTime : 0),
                .num_rows = layout_.num_nodes,
                .num_columns = layout_.num_edges,
                .order = order_fingerprint(node_ids_)};
  const auto add = [&](SectionKind kind, Direction direction, DType dtype, std::uint64_t rows) {
    header.sections.push_back({.kind = kind, .direction = direction, .dtype = dtype, .rows = rows});
  };
  for (const Direction direction : layout_.directions) {
    const std::uint64_t edges = layout_.num_edges;
    add(SectionKind::kIndptr, direction, DType::kInt64, layout_.num_nodes + 1);
    add(SectionKind::kIndices, direction, integer_dtype(layout_.num_nodes, layout_.wide_indices),
        edges);
    if (layout_.has_weights) {
      add(SectionKind::kWeights, direction, DType::kFloat32, edges);
      add(SectionKind::kAlias, direction, DType::kInt64, edges);
    }
    if (layout_.has_times) add(SectionKind::kTimestamps, direction, DType::kInt64, edges);
    if (direction != layout_.directions[0])
      add(SectionKind::kEdgeIds, direction, integer_dtype(edges), edges);
    else if (layout_.has_source_rows)
      add(SectionKind::kSourceRows, direction, integer_dtype(layout_.num_rows), edges);
  }
  if (!node_ids_.names.empty()) {
    add(SectionKind::kNodeNameOffsets, Direction::kNone, DType::kInt64, layout_.num_nodes + 1);
    add(SectionKind::kNodeNameBytes, Direction::kNone, DType::kUInt8, node_ids_.names.bytes.size());
  } else if (!node_ids_.numbers.empty()) {
    add(SectionKind::kNodeIds, Direction::kNone, DType::kInt64, layout_.num_nodes);
  }
  if (!node_ids_.empty())
    add(SectionKind::kNodeIdTable, Direction::kNone, slot_dtype(layout_.num_nodes),
        plan_slots(node_ids_).count());
  writer_ = std::make_unique<FormatWriter>(path, std::move(header));
}

void GraphFile::begin_direction() {
  streams_ = {};
  streams_.indptr = next_section();
  streams_.indices = next_section();
  if (layout_.has_weights) {
    streams_.weights = next_section();
    streams_.alias = next_section();
  }
  if (layout_.has_times) streams_.times = next_section();
  if (direction_ > 0 || layout_.has_source_rows) streams_.rows = next_section();
  const std::int64_t zero = 0;
  streams_.indptr->append(std::as_bytes(std::span(&zero, 1)));
}

void GraphFile::end_direction() {
  for (auto* stream : {&streams_.indptr, &streams_.indices, &streams_.weights, &streams_.alias,
                       &streams_.times, &streams_.rows})
    if (*stream) (*stream)->finish();
}

void GraphFile::next_direction() {
  end_direction();
  ++direction_;
  begin_direction();
}

void GraphFile::append(const NeighborLists& lists) {
  append_offsets(lists.offsets);
  if (lists.wide_indices.empty())
    streams_.indices->append(std::as_bytes(lists.narrow_indices));
  else
    streams_.indices->append(std::as_bytes(lists.wide_indices));
  if (streams_.weights) {
    streams_.weights->append(std::as_bytes(lists.weights));
    append_alias(lists);
  }
  if (streams_.times) streams_.times->append(std::as_bytes(lists.times));
  if (streams_.rows) append_integers(*streams_.rows, lists.rows);
  streams_.num_entries += lists.num_entries();
}

void GraphFile::append_offsets(std::span<const std::int64_t> offsets) {
  offsets = offsets.subspan(1);
  const auto before = static_cast<std::int64_t>(streams_.num_entries);
  for (std::size_t first = 0; first < offsets.size(); first += kPieceItems) {
    const auto piece = offsets.subspan(first, std::min(kPieceItems, offsets.size() - first));
    offsets_.resize(piece.size());
    std::transform(piece.begin(), piece.end(), offsets_.data(),
                   [&](std::int64_t offset) { return before + offset; });
    streams_.indptr->append(std::as_bytes(offsets_.span()));
  }
}

void GraphFile::append_alias(const NeighborLists& lists) {
  alias_.resize(lists.weights.size());
  parallel_for(lists.num_nodes(), 1 << 10, [&](std::size_t begin, std::size_t end) {
    AliasScratch scratch;
    for (std::size_t node = begin; node < end; ++node) {
      const auto first = static_cast<std::size_t>(lists.offsets[node]);
      const auto length = static_cast<std::size_t>(lists.offsets[node + 1]) - first;
      if (length >= UINT32_MAX)
        throw SourceError("node " + std::to_string(lists.first_node + node) +
                          " has more weighted neighbors than 2^32");
      build_alias(lists.weights.subspan(first, length), alias_.span().subspan(first, length),
                  scratch);
    }
  });
  streams_.alias->append(std::as_bytes(alias_.span()));
}

// As int32 where the section is.
void GraphFile::append_integers(SectionStream& stream, std::span<const std::int64_t> values) {
  if (stream.section().dtype == DType::kInt64) return stream.append(std::as_bytes(values));
  narrow_.resize(values.size());
  parallel_each(values.size(), 1 << 18, [narrow = narrow_.data(), values](std::size_t i) {
    narrow[i] = static_cast<std::int32_t>(values[i]);
  });
  stream.append(std::as_bytes(narrow_.span()));
}

SectionStream GraphFile::section_stream(SectionKind kind) {
  const auto& sections = writer_->header().sections;
  const auto is_it = [&](const Section& section) { return section.kind == kind; };
  const auto place = std::find_if(sections.begin(), sections.end(), is_it) - sections.begin();
  return {*writer_, static_cast<std::size_t>(place)};
}

void GraphFile::write_section(SectionKind kind, std::span<const std::byte> data) {
  SectionStream stream = section_stream(kind);
  stream.append(data);
  stream.finish();
}

// Before the lists, though behind them in the file: two ids that are equal are found here.
void GraphFile::write_node_ids() {
  if (node_ids_.empty()) return;
  SectionStream table = section_stream(SectionKind::kNodeIdTable);
  build_node_id_table(node_ids_, IdSlots(table.section().rows), table.section().dtype,
                      layout_.table_memory,
                      [&](std::span<const std::byte> slots) { table.append(slots); });
  table.finish();
  if (node_ids_.names.empty()) {
    write_section(SectionKind::kNodeIds, std::as_bytes(node_ids_.numbers));
  } else {
    write_section(SectionKind::kNodeNameOffsets, std::as_bytes(node_ids_.names.offsets));
    write_section(SectionKind::kNodeNameBytes, std::as_bytes(node_ids_.names.bytes));
  }
}

std::uint64_t GraphFile::finish() {
  end_direction();
  writer_->finish();
  return writer_->header().file_bytes;
}

}  // namespace graphmount
