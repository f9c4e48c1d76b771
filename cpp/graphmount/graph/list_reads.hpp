// Copies of parts of neighbor lists, for code that goes through whole lists or needs the values of
// some entries.
//
// The copy is checked, and the copy is handed out. So whatever another process writes to the file
// meanwhile, offsets ascend and lie within the lists, and ids exist.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/graph/graph.hpp"

namespace graphmount {

/// The items [first, first + count) of a section: offsets (of which there is one more than there
/// are nodes), neighbors, edge ids, source rows and timestamps as int64, weights as float. Throws
/// FormatError with the section and the byte, if an item cannot be; MissingDataError if there is no
/// such section; IdError if there are not so many items; FileChangedError.
template <class Item>
std::vector<Item> read_list(const Graph& graph, SectionKind kind, Direction direction,
                            std::uint64_t first, std::uint64_t count);

/// The timestamps (int64) or the weights (float) of the entries at these positions of the lists.
/// Throws IdError for a position that does not exist, and as above.
template <class Item>
std::vector<Item> gather_list(const Graph& graph, SectionKind kind, Direction direction,
                              std::span<const EdgeId> positions);

/// The section that has the row which each edge had in the source. Throws MissingDataError if the
/// graph was compiled without them.
const Section& source_rows_of(const Graph& graph);

/// The rows that these edges had in the source, of which there are as many as places in `out`,
/// which may be the same memory. Throws as above, and MissingDataError.
void gather_source_rows(const Graph& graph, std::span<const EdgeId> edges,
                        std::span<std::int64_t> out);

}  // namespace graphmount
