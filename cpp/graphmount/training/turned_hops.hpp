// The edges of a batch by their source, for every layer of a model but the first: what the way back
// of a layer goes along. Made ahead, by the threads of a loader, so that no step of training has
// to.
//
// The first layer has the rows of the loader, which need no gradient.
#pragma once

#include <cstdint>
#include <span>

namespace graphmount {

/// The edges of a batch, or those of one relation, which lie by target and by hop. Sources and
/// targets may be nodes of two types, each numbered by itself.
struct HopEdges {
  std::span<const std::int64_t> starts, sources;  // of all hops
  std::span<const std::int64_t> num_targets;  // of their type: seeds, then new nodes of each hop
  std::span<const std::int64_t> num_sources;  // of theirs: the same
  std::span<const std::int64_t> num_edges;    // of each hop
};

/// How many numbers `turn_hops` writes.
std::size_t turned_size(const HopEdges& edges);

/// For each layer from the second to the last: the fingerprint of its lists, then what `turn_round`
/// makes of them: starts, owners and places. The layer after the first has the edges of all hops
/// but the last, and so on. Throws std::invalid_argument if sizes do not fit.
void turn_hops(const HopEdges& edges, std::span<std::int64_t> out);

}  // namespace graphmount
