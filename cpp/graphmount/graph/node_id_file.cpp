#include "graphmount/graph/node_id_file.hpp"

#include <bit>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/graph/ids/node_id_table.hpp"

namespace graphmount {

NodeIdFile::NodeIdFile(std::shared_ptr<MappedFile> file)
    : mount_(std::move(file), FileKind::kNodeIds) {
  const Header& header = mount_.header();
  const std::string& path = mount_.file().path();
  if (num_nodes() >= INT64_MAX) throw FormatError(path, "the number of nodes exceeds 2^63");
  if (header.flags != 0) throw FormatError(path, "a file of node ids has flags of another kind");
  for (const Section& section : header.sections) {
    if (static_cast<std::uint16_t>(section.kind) >= kFirstOptionalKind) continue;
    if (section.direction != Direction::kNone || section.columns != 1)
      throw FormatError(path, "section " + section.name() + " does not belong into this file");
  }
  if (!check_node_id_sections(mount_, num_nodes()))
    throw FormatError(path, "there are no external node ids");
}

bool check_node_id_sections(const Mount& mount, std::uint64_t num_nodes) {
  const Header& header = mount.header();
  const std::string& path = mount.file().path();
  const Section* ids = header.find(SectionKind::kNodeIds);
  const Section* offsets = header.find(SectionKind::kNodeNameOffsets);
  const Section* names = header.find(SectionKind::kNodeNameBytes);
  const Section* table = header.find(SectionKind::kNodeIdTable);
  const bool has_names = offsets != nullptr;
  if (has_names != (names != nullptr) || (ids != nullptr && has_names) ||
      (ids != nullptr || has_names) != (table != nullptr))
    throw FormatError(path, "the sections of external node ids are not complete");
  if (table == nullptr) return false;
  const bool fine =
      (ids == nullptr || (ids->dtype == DType::kInt64 && ids->rows == num_nodes)) &&
      (!has_names || (offsets->dtype == DType::kInt64 && offsets->rows == num_nodes + 1 &&
                      names->dtype == DType::kUInt8)) &&
      table->dtype == slot_dtype(num_nodes) && std::has_single_bit(table->rows) &&
      table->rows >= num_nodes;
  if (!fine) throw FormatError(path, "a section of external node ids has the wrong size or dtype");
  return true;
}

}  // namespace graphmount
