// Graphs whose two directions have neighbors of different dtypes: the format allows them, but the
// compiler writes none.
#pragma once

#include "forged_file.hpp"
#include "graphmount/graph/graph.hpp"

namespace graphmount::testing {

/// Makes the outgoing neighbors of a graph compiled with wide indices int32.
inline void narrow_outgoing(const std::filesystem::path& path) {
  Bytes bytes = read_bytes(path);
  Header header = Graph(path).mount().header();
  for (Section& section : header.sections) {
    if (section.kind != SectionKind::kIndices || section.direction != Direction::kOut) continue;
    for (std::uint64_t i = 0; i < section.rows; ++i)
      put(bytes, section.offset + 4 * i,
          static_cast<std::int32_t>(get<std::int64_t>(bytes, section.offset + 8 * i)));
    section.dtype = DType::kInt32;
    section.bytes = 4 * section.rows;
  }
  const Bytes encoded = encode_header(header);
  std::copy(encoded.begin(), encoded.end(), bytes.begin());
  write_bytes(path, bytes);
}

}  // namespace graphmount::testing
