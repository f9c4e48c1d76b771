// Negatives for link prediction: nodes, or pairs of nodes, to stand where there is no edge.
//
// The edges may lead from nodes of one type to nodes of another: sources are then drawn from the
// sources, and destinations from the destinations.
//
// Nodes are drawn evenly, or by degree: as often as they are the end of an edge that is replaced.
// In strict mode, no result is an edge of the graph. Draws that may not stay are repeated a bounded
// number of times; then the choice is made among those that may, so no call goes on for ever, and
// the distribution is exactly that of draws repeated until they may stay. A result is a function of
// key, position and options, and of nothing else; `places` says which positions its rows have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "graphmount/base/places.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/graph/graph.hpp"

namespace graphmount {

/// kDegree: a destination as often as it is one in the graph, a source as often as it is one.
enum class NegativeWeighting { kUniform, kDegree };

enum class EdgeEnd { kSource, kDestination };

struct NegativeOptions {
  NegativeWeighting weighting = NegativeWeighting::kUniform;
  bool is_strict = false;
  /// Whether both ends may be the same node; in strict mode, where the graph has no such edge. Not
  /// looked at if the ends are of two types.
  bool allows_self_loops = true;
  /// What stands where no node can; without it, that is a MissingDataError. Below 0.
  std::optional<NodeId> pad;
};

/// For each kept end of an edge, nodes to put at the other end, which is `corrupt`: as many for
/// each as `out` has places, row by row. Draws by degree, and strict ones, need the lists that go
/// from kept ends to others: outgoing ones for destinations. Draws by degree that may have to be
/// repeated (strict ones, and those without self-loops) need both directions. Throws IdError,
/// MissingDataError, FormatError.
void sample_negatives(const Graph& graph, std::span<const NodeId> kept, EdgeEnd corrupt,
                      const NegativeOptions& options, RandomKey key, std::span<NodeId> out,
                      Places places = {});

/// Pairs, both ends drawn, as many as there are places in `sources` and in `destinations`. Strict
/// pairs need lists of either direction, draws by degree both. Errors as above.
void sample_negative_pairs(const Graph& graph, const NegativeOptions& options, RandomKey key,
                           std::span<NodeId> sources, std::span<NodeId> destinations,
                           Places places = {});

}  // namespace graphmount
