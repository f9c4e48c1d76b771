// The sections of external ids, in a graph file or in a file of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "graphmount/format/section_stream.hpp"
#include "graphmount/graph/ids/external_ids.hpp"

namespace graphmount {

/// Adds what these ids need to a header: nothing if there are none.
void add_node_id_sections(Header& header, const ExternalIds& ids);

/// Writes them; `stream` gives the stream of a section that was added. `memory` bounds the table
/// that finds them. Throws SourceError if two ids are equal.
void write_node_id_sections(const ExternalIds& ids, std::uint64_t memory,
                            const std::function<SectionStream&(SectionKind)>& stream);

/// Writes a file of ids (.gi), whose nodes have this fingerprint. Returns its size. Throws
/// SourceError, IoError, and std::invalid_argument if there are no ids.
std::uint64_t write_node_id_file(const std::filesystem::path& path, const ExternalIds& ids,
                                 std::uint64_t order, std::uint64_t memory);

}  // namespace graphmount
