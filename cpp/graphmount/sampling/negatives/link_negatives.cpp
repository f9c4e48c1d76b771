#include "graphmount/sampling/negatives/link_negatives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "graphmount/base/error.hpp"
#include "graphmount/graph/edge_search.hpp"

namespace graphmount {
namespace {

constexpr NodeId kNoNode = -1;
constexpr int kMostTries = 64;
constexpr std::uint64_t kLoose = std::uint64_t{1} << 32;  // a part of the key that no place has

bool has_weights(const LinkNegatives& negatives) {
  return negatives.source_weights || negatives.destination_weights;
}

/// Draws that leave a place open where there is nothing to draw.
NegativeOptions padded(NegativeOptions options) {
  options.pad = kNoNode;
  return options;
}

/// Draws without conditions, for where none can be kept.
NegativeOptions loosened(NegativeOptions options) {
  options.is_strict = false;
  options.allows_self_loops = true;
  options.pad.reset();
  return options;
}

NodeId draw_node(const std::shared_ptr<const NodeWeights>& weights, std::uint64_t num_nodes,
                 Draws& draws) {
  return weights ? weights->at(draws.unit()) : static_cast<NodeId>(draws.below(num_nodes));
}

/// Destinations by weight, `num` for each link, and sources as well unless they are kept; again
/// where the pair may not stay.
void draw_by_weight(const Graph& graph, const LinkNegatives& negatives, bool keeps_sources,
                    RandomKey key, Places places, std::size_t num, std::span<NodeId> sources,
                    std::span<NodeId> destinations) {
  const NegativeOptions& options = negatives.draws;
  const bool allows_loops = options.allows_self_loops || graph.is_rectangular();
  std::vector<std::size_t> open(destinations.size());
  std::iota(open.begin(), open.end(), 0);
  for (std::uint64_t round = 0; round < kMostTries && !open.empty(); ++round) {
    std::vector<NodeId> tried_sources, tried_destinations;
    for (const std::size_t place : open) {
      Draws draws(key.with(places.of(place / num) * num + place % num).with(round));
      if (!keeps_sources)
        sources[place] = draw_node(negatives.source_weights, graph.num_sources(), draws);
      destinations[place] =
          draw_node(negatives.destination_weights, graph.num_destinations(), draws);
      tried_sources.push_back(sources[place]);
      tried_destinations.push_back(destinations[place]);
    }
    std::vector<std::uint8_t> is_edge(open.size());
    if (options.is_strict) find_edges(graph, tried_sources, tried_destinations, is_edge);
    std::size_t left = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool is_loop = tried_sources[i] == tried_destinations[i];
      if (is_edge[i] != 0 || (is_loop && !allows_loops)) open[left++] = open[i];
    }
    open.resize(left);
  }
}

void require_size(const std::shared_ptr<const NodeWeights>& weights, std::uint64_t num_nodes,
                  const char* name) {
  if (weights && weights->size() != num_nodes)
    throw std::invalid_argument(
        say(name, " has ", weights->size(), " weights for ", num_nodes, " nodes"));
}

}  // namespace

void require_drawable(const Graph& graph, const LinkNegatives& negatives) {
  if (negatives.mode == NegativeMode::kNone) return;
  if (!(negatives.amount > 0) || !std::isfinite(negatives.amount))
    throw std::invalid_argument(say("amount must be above 0, not ", negatives.amount));
  const bool is_triplet = negatives.mode == NegativeMode::kTriplet;
  if (is_triplet && negatives.amount != std::floor(negatives.amount))
    throw std::invalid_argument(say("amount must be whole for triplets, not ", negatives.amount));
  require_size(negatives.source_weights, graph.num_sources(), "src_weight");
  require_size(negatives.destination_weights, graph.num_destinations(), "dst_weight");
  if (has_weights(negatives)) return;  // edges are looked up, in whatever lists there are
  if (is_triplet)
    sample_negatives(graph, {}, EdgeEnd::kDestination, negatives.draws, RandomKey(0), {});
  else
    sample_negative_pairs(graph, negatives.draws, RandomKey(0), {}, {});
}

std::vector<NodeId> draw_negative_pairs(const Graph& graph, const LinkNegatives& negatives,
                                        std::size_t num_links, RandomKey key, Places places) {
  const auto num =
      static_cast<std::size_t>(std::ceil(static_cast<double>(num_links) * negatives.amount));
  std::vector<NodeId> pairs(2 * num);
  const std::span sources = std::span(pairs).first(num), destinations = std::span(pairs).last(num);
  if (has_weights(negatives)) {
    draw_by_weight(graph, negatives, false, key, places, 1, sources, destinations);
    return pairs;
  }
  sample_negative_pairs(graph, padded(negatives.draws), key, sources, destinations, places);
  // If there is no negative pair, there is none for any place.
  if (num > 0 && pairs[0] == kNoNode)
    sample_negative_pairs(graph, loosened(negatives.draws), key.with(kLoose), sources, destinations,
                          places);
  return pairs;
}

std::vector<NodeId> draw_negative_destinations(const Graph& graph, const LinkNegatives& negatives,
                                               std::span<const NodeId> sources, RandomKey key,
                                               Places places) {
  const auto num = static_cast<std::size_t>(negatives.amount);
  std::vector<NodeId> drawn(sources.size() * num);
  if (has_weights(negatives)) {
    std::vector<NodeId> kept;
    for (std::size_t place = 0; place < drawn.size(); ++place) kept.push_back(sources[place / num]);
    draw_by_weight(graph, negatives, true, key, places, num, kept, drawn);
    return drawn;
  }
  sample_negatives(graph, sources, EdgeEnd::kDestination, padded(negatives.draws), key, drawn,
                   places);
  if (std::find(drawn.begin(), drawn.end(), kNoNode) == drawn.end()) return drawn;
  // For every place, so that what is drawn for one does not depend on which others are open.
  std::vector<NodeId> loose(drawn.size());
  sample_negatives(graph, sources, EdgeEnd::kDestination, loosened(negatives.draws),
                   key.with(kLoose), loose, places);
  for (std::size_t place = 0; place < drawn.size(); ++place)
    if (drawn[place] == kNoNode) drawn[place] = loose[place];
  return drawn;
}

}  // namespace graphmount
