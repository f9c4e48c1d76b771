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

/// Whether pairs are drawn again where they may not stay, and not chosen among those that may.
bool is_repeated(const LinkNegatives& negatives) {
  return negatives.source_weights || negatives.destination_weights || negatives.has_times();
}

[[noreturn]] void refuse_time(std::int64_t time) {
  throw std::invalid_argument(
      say("a link has the time ", time,
          ", and all nodes that could be its negatives are later; leave such links out, or draw no "
          "negatives"));
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

/// How one end of the negatives is drawn again and again, until a pair may stay.
class RepeatedEnd {
 public:
  /// `times` has one for each place, if nodes have times. `drawn` has a node for each place if they
  /// are drawn otherwise, for each round anew; else it is empty.
  RepeatedEnd(const NodeWeights* weights, const EarlyNodes* early, std::uint64_t num_nodes,
              std::span<const std::int64_t> times, const std::vector<NodeId>& drawn)
      : weights_(weights), early_(early), num_nodes_(num_nodes), times_(times), drawn_(drawn) {
    if (early_ == nullptr) return;
    for (const std::int64_t time : times) {
      num_early_.push_back(early->count(time));
      if (num_early_.back() == 0) refuse_time(time);
    }
  }

  NodeId draw(std::size_t place, Draws& draws) const {
    if (weights_ != nullptr) return weights_->at(draws.unit());
    if (!drawn_.empty()) return drawn_[place];
    return draw_evenly(place, draws);
  }

  NodeId draw_evenly(std::size_t place, Draws& draws) const {
    return early_ != nullptr ? early_->at(draws.below(num_early_[place]))
                             : static_cast<NodeId>(draws.below(num_nodes_));
  }

  bool is_late(std::size_t place, NodeId node) const {
    return early_ != nullptr && early_->is_late(node, times_[place]);
  }

 private:
  const NodeWeights* weights_;
  const EarlyNodes* early_;
  std::uint64_t num_nodes_;
  std::span<const std::int64_t> times_;
  const std::vector<NodeId>& drawn_;
  std::vector<std::uint64_t> num_early_;  // nodes that can be drawn, of each place
};

/// Draws destinations, `num` for each link, and sources as well unless they are kept; again where
/// the pair may not stay. `times` has one for each place, if nodes have times.
void draw_repeatedly(const Graph& graph, const LinkNegatives& negatives, bool keeps_sources,
                     RandomKey key, Places places, std::size_t num,
                     std::span<const std::int64_t> times, std::span<NodeId> sources,
                     std::span<NodeId> destinations) {
  const NegativeOptions& options = negatives.draws;
  const bool allows_loops = options.allows_self_loops || graph.is_rectangular();
  const bool is_by_degree = options.weighting == NegativeWeighting::kDegree;
  std::vector<NodeId> drawn_sources, drawn_destinations;
  const RepeatedEnd source_end(negatives.source_weights.get(), negatives.source_times.get(),
                               graph.num_sources(), times, drawn_sources);
  const RepeatedEnd destination_end(negatives.destination_weights.get(),
                                    negatives.destination_times.get(), graph.num_destinations(),
                                    times, drawn_destinations);
  const auto draws_of = [&](std::size_t place, std::uint64_t round) {
    return Draws(key.with(places.of(place / num) * num + place % num).with(round));
  };
  // By degree, all places are drawn in each round, since that is how they are drawn at once.
  const auto draw_by_degree = [&](std::uint64_t round) {
    const NegativeOptions loose = loosened(options);
    drawn_destinations.resize(destinations.size());
    if (keeps_sources) {
      std::vector<NodeId> kept;
      for (std::size_t place = 0; place < sources.size(); place += num)
        kept.push_back(sources[place]);
      sample_negatives(graph, kept, EdgeEnd::kDestination, loose, key.with(kLoose).with(round),
                       drawn_destinations, places);
    } else {
      drawn_sources.resize(sources.size());
      sample_negative_pairs(graph, loose, key.with(kLoose).with(round), drawn_sources,
                            drawn_destinations, places);
    }
  };
  std::vector<std::size_t> open(destinations.size());
  std::iota(open.begin(), open.end(), 0);
  for (std::uint64_t round = 0; round < kMostTries && !open.empty(); ++round) {
    if (is_by_degree) draw_by_degree(round);
    std::vector<NodeId> tried_sources, tried_destinations;
    for (const std::size_t place : open) {
      Draws draws = draws_of(place, round);
      if (!keeps_sources) sources[place] = source_end.draw(place, draws);
      destinations[place] = destination_end.draw(place, draws);
      tried_sources.push_back(sources[place]);
      tried_destinations.push_back(destinations[place]);
    }
    std::vector<std::uint8_t> is_edge(open.size());
    if (options.is_strict) find_edges(graph, tried_sources, tried_destinations, is_edge);
    std::size_t left = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool is_loop = tried_sources[i] == tried_destinations[i];
      const bool is_late = (!keeps_sources && source_end.is_late(open[i], tried_sources[i])) ||
                           destination_end.is_late(open[i], tried_destinations[i]);
      if (is_late || is_edge[i] != 0 || (is_loop && !allows_loops)) open[left++] = open[i];
    }
    open.resize(left);
  }
  // The last draw stays, unless it is too late.
  for (const std::size_t place : open) {
    Draws draws = draws_of(place, kMostTries);
    if (!keeps_sources && source_end.is_late(place, sources[place]))
      sources[place] = source_end.draw_evenly(place, draws);
    if (destination_end.is_late(place, destinations[place]))
      destinations[place] = destination_end.draw_evenly(place, draws);
  }
}

/// Of each place, the time of its link, which is that of number link_of(place).
template <class LinkOf>
std::vector<std::int64_t> times_of_places(const LinkNegatives& negatives,
                                          std::span<const std::int64_t> times,
                                          std::size_t num_links, std::size_t num_places,
                                          const LinkOf& link_of) {
  std::vector<std::int64_t> of_places;
  if (!negatives.has_times()) return of_places;
  if (times.size() != num_links)
    throw std::invalid_argument(say("there are ", times.size(), " times for ", num_links,
                                    " links, whose negatives have times"));
  for (std::size_t place = 0; place < num_places; ++place)
    of_places.push_back(times[link_of(place)]);
  return of_places;
}

void require_size(const std::shared_ptr<const NodeWeights>& weights, std::uint64_t num_nodes,
                  const char* name) {
  if (weights && weights->size() != num_nodes)
    throw std::invalid_argument(
        say(name, " has ", weights->size(), " weights for ", num_nodes, " nodes"));
}

void require_times(const std::shared_ptr<const EarlyNodes>& nodes, std::uint64_t num_nodes,
                   std::span<const std::int64_t> times) {
  if (!nodes) return;
  if (nodes->size() != num_nodes)
    throw std::invalid_argument(
        say("there are ", nodes->size(), " times for ", num_nodes, " nodes"));
  const auto earliest = std::min_element(times.begin(), times.end());
  if (earliest != times.end() && nodes->count(*earliest) == 0) refuse_time(*earliest);
}

}  // namespace

void require_drawable(const Graph& graph, const LinkNegatives& negatives,
                      std::span<const std::int64_t> times) {
  if (negatives.mode == NegativeMode::kNone) return;
  if (!(negatives.amount > 0) || !std::isfinite(negatives.amount))
    throw std::invalid_argument(say("amount must be above 0, not ", negatives.amount));
  const bool is_triplet = negatives.mode == NegativeMode::kTriplet;
  if (is_triplet && negatives.amount != std::floor(negatives.amount))
    throw std::invalid_argument(say("amount must be whole for triplets, not ", negatives.amount));
  require_size(negatives.source_weights, graph.num_sources(), "src_weight");
  require_size(negatives.destination_weights, graph.num_destinations(), "dst_weight");
  if (!is_triplet) require_times(negatives.source_times, graph.num_sources(), times);
  require_times(negatives.destination_times, graph.num_destinations(), times);
  // Edges are looked up then, in whatever lists there are.
  if (is_repeated(negatives) && negatives.draws.weighting == NegativeWeighting::kUniform) return;
  if (is_triplet)
    sample_negatives(graph, {}, EdgeEnd::kDestination, negatives.draws, RandomKey(0), {});
  else
    sample_negative_pairs(graph, negatives.draws, RandomKey(0), {}, {});
}

std::vector<NodeId> draw_negative_pairs(const Graph& graph, const LinkNegatives& negatives,
                                        std::size_t num_links, RandomKey key, Places places,
                                        std::span<const std::int64_t> times) {
  const auto num =
      static_cast<std::size_t>(std::ceil(static_cast<double>(num_links) * negatives.amount));
  std::vector<NodeId> pairs(2 * num);
  const std::span sources = std::span(pairs).first(num), destinations = std::span(pairs).last(num);
  if (is_repeated(negatives)) {
    const auto of_places = times_of_places(negatives, times, num_links, num,
                                           [&](std::size_t place) { return place % num_links; });
    draw_repeatedly(graph, negatives, false, key, places, 1, of_places, sources, destinations);
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
                                               Places places, std::span<const std::int64_t> times) {
  const auto num = static_cast<std::size_t>(negatives.amount);
  std::vector<NodeId> drawn(sources.size() * num);
  if (is_repeated(negatives)) {
    std::vector<NodeId> kept;
    for (std::size_t place = 0; place < drawn.size(); ++place) kept.push_back(sources[place / num]);
    const auto of_places = times_of_places(negatives, times, sources.size(), drawn.size(),
                                           [&](std::size_t place) { return place / num; });
    draw_repeatedly(graph, negatives, true, key, places, num, of_places, kept, drawn);
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
