// Multi-hop neighbor sampling in a graph of one kind, which is one type and one relation: see
// typed_sampler.hpp for what it guarantees.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/sampling/neighbors/typed_sampler.hpp"

namespace graphmount {

struct NeighborSample : TypeSample, RelationSample {};

/// `times` has the time of each seed if the rule is temporal. Throws IdError, MissingDataError,
/// FormatError, FileChangedError, BudgetError (2^32 edges) and std::invalid_argument.
NeighborSample sample_neighbors(const Graph& graph, std::span<const NodeId> seeds,
                                std::span<const std::int64_t> times, const SampleOptions& options);

}  // namespace graphmount
