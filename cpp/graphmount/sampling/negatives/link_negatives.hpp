// The negatives of a batch of links: pairs of nodes, or destinations for each source. Links may
// lead from nodes of one type to nodes of another.
//
// Strict negatives are not edges of the graph, if that is possible: if every node would make an
// edge, any node may be drawn. With weights of nodes, strict draws are repeated a bounded number of
// times, and the last one stays. A result is a function of key and options, and of the places that
// its links have in the whole batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graphmount/base/random.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/sampling/negatives/node_weights.hpp"

namespace graphmount {

/// kBinary: pairs of nodes, both drawn. kTriplet: destinations for the source of each link.
enum class NegativeMode { kNone, kBinary, kTriplet };

struct LinkNegatives {
  NegativeMode mode = NegativeMode::kNone;
  double amount = 1;  // for each link, rounded up for a batch; whole if kTriplet
  NegativeOptions draws = {};
  // Weights to draw by, if there are any; an end that has none is then drawn evenly.
  std::shared_ptr<const NodeWeights> source_weights = {}, destination_weights = {};
};

/// Throws std::invalid_argument if options are wrong, and MissingDataError if the graph lacks what
/// drawing needs.
void require_drawable(const Graph& graph, const LinkNegatives& negatives);

/// Sources, then as many destinations: `amount` for each of so many links.
std::vector<NodeId> draw_negative_pairs(const Graph& graph, const LinkNegatives& negatives,
                                        std::size_t num_links, RandomKey key, Places places = {});

/// For each source, `amount` destinations, one source after the other.
std::vector<NodeId> draw_negative_destinations(const Graph& graph, const LinkNegatives& negatives,
                                               std::span<const NodeId> sources, RandomKey key,
                                               Places places = {});

}  // namespace graphmount
