#include "graphmount/compile/node_id_sections.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "graphmount/graph/ids/node_id_table.hpp"

namespace graphmount {
void add_node_id_sections(Header& header, const ExternalIds& ids) {
  if (ids.empty()) return;
  const auto add = [&](SectionKind kind, DType dtype, std::uint64_t rows) {
    header.sections.push_back({.kind = kind, .dtype = dtype, .rows = rows});
  };
  if (!ids.names.empty()) {
    add(SectionKind::kNodeNameOffsets, DType::kInt64, ids.size() + 1);
    add(SectionKind::kNodeNameBytes, DType::kUInt8, ids.names.bytes.size());
  } else {
    add(SectionKind::kNodeIds, DType::kInt64, ids.size());
  }
  add(SectionKind::kNodeIdTable, slot_dtype(ids.size()), plan_slots(ids).count());
}

void write_node_id_sections(const ExternalIds& ids, std::uint64_t memory,
                            const std::function<SectionStream&(SectionKind)>& stream) {
  if (ids.empty()) return;
  SectionStream& table = stream(SectionKind::kNodeIdTable);
  build_node_id_table(ids, IdSlots(table.section().rows), table.section().dtype,
                      std::min(kTableMemory, memory / 16),
                      [&](std::span<const std::byte> slots) { table.append(slots); });
  if (ids.names.empty()) {
    SectionStream& numbers = stream(SectionKind::kNodeIds);
    ids.for_each_numbers(
        [&](std::span<const std::int64_t> some) { numbers.append(std::as_bytes(some)); });
  } else {
    stream(SectionKind::kNodeNameOffsets).append(std::as_bytes(ids.names.offsets));
    stream(SectionKind::kNodeNameBytes).append(std::as_bytes(ids.names.bytes));
  }
}

std::uint64_t write_node_id_file(const std::filesystem::path& path, const ExternalIds& ids,
                                 std::uint64_t order, std::uint64_t memory) {
  if (ids.empty()) throw std::invalid_argument("a file of node ids needs ids");
  Header header{.kind = FileKind::kNodeIds, .num_rows = ids.size(), .order = order};
  add_node_id_sections(header, ids);
  const std::size_t num_sections = header.sections.size();
  FormatWriter writer(path, std::move(header));
  std::vector<SectionStream> streams;
  for (std::size_t i = 0; i < num_sections; ++i) streams.emplace_back(writer, i);
  write_node_id_sections(ids, memory, [&](SectionKind kind) -> SectionStream& {
    const Header& written = writer.header();
    return streams[static_cast<std::size_t>(written.find(kind) - written.sections.data())];
  });
  for (SectionStream& stream : streams) stream.finish();
  writer.finish();
  return writer.header().file_bytes;
}

}  // namespace graphmount
