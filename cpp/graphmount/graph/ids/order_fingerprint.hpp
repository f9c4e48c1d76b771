// Fingerprints of the order of nodes: two files have the same one if node i is the same node of
// the source in both. docs/format.md says how they are computed.
#pragma once

#include <cstdint>
#include <string_view>

#include "graphmount/graph/ids/external_ids.hpp"

namespace graphmount {

/// Of the nodes that have these external ids, in this order; 0 if there are none.
std::uint64_t order_fingerprint(const ExternalIds& ids);

/// The same for nodes of a type that has a name, so that those of two types always differ.
/// `order` is that of their external ids. Never 0.
std::uint64_t typed_order(std::string_view type, std::uint64_t order);

}  // namespace graphmount
