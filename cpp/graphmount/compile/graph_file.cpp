#include "graphmount/compile/graph_file.hpp"

#include <algorithm>

#include "graphmount/base/error.hpp"
#include "graphmount/compile/node_id_sections.hpp"
#include "graphmount/graph/alias_table.hpp"
#include "graphmount/graph/ids/order_fingerprint.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kInt32Range = std::uint64_t{1} << 31;
constexpr std::size_t kPieceItems = 1 << 20;

DType integer_dtype(std::uint64_t values_below, bool wide = false) {
  return values_below <= kInt32Range && !wide ? DType::kInt32 : DType::kInt64;
}

}  // namespace

GraphFile::GraphFile(const std::filesystem::path& path, const GraphOptions& options,
                     const GraphCounts& counts, const ExternalIds& node_ids,
                     const NodeOrders& orders)
    : options_(options), node_ids_(node_ids) {
  open(path, counts, orders);
  write_node_ids();
  begin_lists(options_.first_direction());
}

void GraphFile::open(const std::filesystem::path& path, const GraphCounts& counts,
                     const NodeOrders& orders) {
  Header header{.kind = FileKind::kGraph,
                .flags = (options_.undirected ? kFlagUndirected : 0) |
                         (options_.has_times ? kFlagSortedByTime : 0) |
                         (options_.rectangular ? kFlagRectangular : 0),
                .num_rows = counts.destinations,
                .num_columns = counts.edges,
                .order = node_ids_.empty() ? orders.destinations : order_fingerprint(node_ids_),
                .num_sources = counts.sources,
                .source_order = orders.sources};
  const auto add = [&](SectionKind kind, Direction direction, DType dtype, std::uint64_t rows) {
    header.sections.push_back({.kind = kind, .direction = direction, .dtype = dtype, .rows = rows});
  };
  const auto add_lists = [&](Direction direction) {
    add(SectionKind::kIndptr, direction, DType::kInt64, counts.lists(direction) + 1);
    add(SectionKind::kIndices, direction,
        integer_dtype(counts.neighbors(direction), options_.wide_indices), counts.edges);
    if (options_.has_weights) {
      add(SectionKind::kWeights, direction, DType::kFloat32, counts.edges);
      add(SectionKind::kAlias, direction, DType::kInt64, counts.edges);
    }
    if (options_.has_times) add(SectionKind::kTimestamps, direction, DType::kInt64, counts.edges);
  };
  const Direction first = options_.first_direction();
  add_lists(first);
  if (options_.keep_source_rows)
    add(SectionKind::kSourceRows, first, integer_dtype(counts.rows), counts.edges);
  if (options_.has_second()) {
    add_lists(Direction::kOut);
    add(SectionKind::kEdgeIds, Direction::kOut, integer_dtype(counts.edges), counts.edges);
  }
  add_node_id_sections(header, node_ids_);
  const std::size_t num_sections = header.sections.size();
  writer_ = std::make_unique<FormatWriter>(path, std::move(header));
  for (std::size_t i = 0; i < num_sections; ++i) streams_.emplace_back(*writer_, i);
}

SectionStream* GraphFile::find(SectionKind kind, Direction direction) {
  const Header& header = writer_->header();
  const Section* const section = header.find(kind, direction);
  return section == nullptr ? nullptr
                            : &streams_[static_cast<std::size_t>(section - header.sections.data())];
}

void GraphFile::begin_lists(Direction direction) {
  direction_ = direction;
  num_entries_ = 0;
  const std::int64_t zero = 0;
  find(SectionKind::kIndptr)->append(std::as_bytes(std::span(&zero, 1)));
}

void GraphFile::append(const NeighborLists& lists) {
  append_offsets(lists.offsets);
  find(SectionKind::kIndices)
      ->append(lists.wide_indices.empty() ? std::as_bytes(lists.narrow_indices)
                                          : std::as_bytes(lists.wide_indices));
  if (options_.has_weights) {
    find(SectionKind::kWeights)->append(std::as_bytes(lists.weights));
    append_alias(lists);
  }
  if (options_.has_times) find(SectionKind::kTimestamps)->append(std::as_bytes(lists.times));
  for (const SectionKind kind : {SectionKind::kEdgeIds, SectionKind::kSourceRows})
    if (SectionStream* const rows = find(kind)) append_integers(*rows, lists.rows);
  num_entries_ += lists.num_entries();
}

void GraphFile::append_offsets(std::span<const std::int64_t> offsets) {
  offsets = offsets.subspan(1);
  const auto before = static_cast<std::int64_t>(num_entries_);
  for (std::size_t first = 0; first < offsets.size(); first += kPieceItems) {
    const auto piece = offsets.subspan(first, std::min(kPieceItems, offsets.size() - first));
    offsets_.resize(piece.size());
    std::transform(piece.begin(), piece.end(), offsets_.data(),
                   [&](std::int64_t offset) { return before + offset; });
    find(SectionKind::kIndptr)->append(std::as_bytes(offsets_.span()));
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
        throw SourceError(
            say("node ", lists.first_node + node, " has more weighted neighbors than 2^32"));
      build_alias(lists.weights.subspan(first, length), alias_.span().subspan(first, length),
                  scratch);
    }
  });
  find(SectionKind::kAlias)->append(std::as_bytes(alias_.span()));
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

// Before the lists, though behind them in the file: two ids that are equal are found here.
void GraphFile::write_node_ids() {
  write_node_id_sections(node_ids_, options_.memory, [&](SectionKind kind) -> SectionStream& {
    return *find(kind, Direction::kNone);
  });
}

std::uint64_t GraphFile::finish() {
  for (SectionStream& stream : streams_) stream.finish();
  writer_->finish();
  return writer_->header().file_bytes;
}

}  // namespace graphmount
