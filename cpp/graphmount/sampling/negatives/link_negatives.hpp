// The negatives of a batch of links: pairs of nodes, or destinations for each source. Links may
// lead from nodes of one type to nodes of another.
//
// Strict negatives are not edges of the graph, if that is possible: if every node would make an
// edge, any node may be drawn. With weights or times of nodes, strict draws are repeated a bounded
// number of times, and the last one stays. Where nodes have times, no negative is later than its
// link. A result is a function of key and options, and of the places that its links have in the
// whole batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graphmount/base/random.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/sampling/negatives/early_nodes.hpp"
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
  // Times of nodes, if they count: an end that has some is drawn among those not later than its
  // link, whatever it is drawn by.
  std::shared_ptr<const EarlyNodes> source_times = {}, destination_times = {};

  bool has_times() const { return source_times || destination_times; }
};

/// Throws std::invalid_argument if options are wrong, or a link of these times is earlier than all
/// nodes that its negatives could be; and MissingDataError if the graph lacks what drawing needs.
void require_drawable(const Graph& graph, const LinkNegatives& negatives,
                      std::span<const std::int64_t> times = {});

/// Sources, then as many destinations: `amount` for each of so many links, to which they belong in
/// turn. `times` has one for each link if nodes have times.
std::vector<NodeId> draw_negative_pairs(const Graph& graph, const LinkNegatives& negatives,
                                        std::size_t num_links, RandomKey key, Places places = {},
                                        std::span<const std::int64_t> times = {});

/// For each source, `amount` destinations, one source after the other.
std::vector<NodeId> draw_negative_destinations(const Graph& graph, const LinkNegatives& negatives,
                                               std::span<const NodeId> sources, RandomKey key,
                                               Places places = {},
                                               std::span<const std::int64_t> times = {});

}  // namespace graphmount
