// Parts of neighbor lists as copies, for those who go through whole lists, or want what goes with
// some of their entries.
//
// What is checked is the copy, and the copy is what is handed out: so whatever another process
// writes to the file meanwhile, offsets ascend and lie within the lists, and ids exist.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/graph/graph.hpp"

namespace graphmount {

/// The items [first, first + count) of a section of integers: offsets (of which there is one more
/// than there are nodes), neighbors, edge ids, source rows or timestamps. Throws FormatError with
/// the section and the byte, if an item cannot be; MissingDataError if there is no such section;
/// IdError if there are not so many items; FileChangedError.
std::vector<std::int64_t> read_list_integers(const Graph& graph, SectionKind kind,
                                             Direction direction, std::uint64_t first,
                                             std::uint64_t count);

/// The same for weights, which can be anything.
std::vector<float> read_list_weights(const Graph& graph, Direction direction, std::uint64_t first,
                                     std::uint64_t count);

/// The timestamps, or the weights, of the entries at these positions of the lists. Throws IdError
/// for a position that does not exist, and as above.
std::vector<std::int64_t> gather_list_timestamps(const Graph& graph, Direction direction,
                                                 std::span<const EdgeId> positions);
std::vector<float> gather_list_weights(const Graph& graph, Direction direction,
                                       std::span<const EdgeId> positions);

/// The section that has the row which each edge had in the source. Throws MissingDataError if the
/// graph was compiled without them.
const Section& source_rows_of(const Graph& graph);

/// The rows that these edges had in the source, of which there are as many as places in `out`,
/// which may be the same memory. Throws as above, and MissingDataError.
void gather_source_rows(const Graph& graph, std::span<const EdgeId> edges,
                        std::span<std::int64_t> out);

}  // namespace graphmount
