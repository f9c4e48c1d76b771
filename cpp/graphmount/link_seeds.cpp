#include "graphmount/link_seeds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "graphmount/ids.hpp"

namespace graphmount {
namespace {

// Parts of a batch's key that no hop of its sample has.
constexpr std::uint64_t kNegatives = std::uint64_t{1} << 32;
constexpr std::uint64_t kLooseNegatives = kNegatives + 1;

constexpr NodeId kNoNode = -1;

/// Draws without conditions, for where none can be kept.
NegativeOptions loosened(NegativeOptions options) {
  options.is_strict = false;
  options.allows_self_loops = true;
  options.pad.reset();
  return options;
}

void require_negatives(const Graph& graph, const LinkNegatives& negatives) {
  if (negatives.mode == NegativeMode::kNone) return;
  if (!(negatives.amount > 0) || !std::isfinite(negatives.amount))
    throw std::invalid_argument("amount must be above 0, not " + std::to_string(negatives.amount));
  if (negatives.mode == NegativeMode::kBinary) {
    sample_negative_pairs(graph, negatives.draws, RandomKey(0), {}, {});
    return;
  }
  if (negatives.amount != std::floor(negatives.amount))
    throw std::invalid_argument("amount must be whole for triplets, not " +
                                std::to_string(negatives.amount));
  sample_negatives(graph, {}, EdgeEnd::kDestination, negatives.draws, RandomKey(0), {});
}

/// Makes the seeds of all ends the distinct ones among them.
void make_distinct(BatchSeeds& seeds) {
  const std::vector<NodeId> ends = seeds.nodes;
  std::sort(seeds.nodes.begin(), seeds.nodes.end());
  seeds.nodes.erase(std::unique(seeds.nodes.begin(), seeds.nodes.end()), seeds.nodes.end());
  std::transform(ends.begin(), ends.end(), seeds.ends.begin(), [&](NodeId end) {
    return std::lower_bound(seeds.nodes.begin(), seeds.nodes.end(), end) - seeds.nodes.begin();
  });
}

}  // namespace

LinkSeeds::LinkSeeds(std::shared_ptr<const Graph> graph, std::shared_ptr<const Links> links,
                     std::vector<std::int64_t> order, std::uint64_t batch_size, bool disjoint,
                     LinkNegatives negatives)
    : graph_(std::move(graph)),
      links_(std::move(links)),
      order_(std::move(order)),
      cut_(order_.size(), batch_size),
      disjoint_(disjoint),
      negatives_(negatives) {
  const std::size_t count = links_->sources.size();
  if (links_->destinations.size() != count)
    throw std::invalid_argument("there are " + std::to_string(count) + " sources for " +
                                std::to_string(links_->destinations.size()) + " destinations");
  if (!links_->times.empty() && links_->times.size() != count)
    throw std::invalid_argument("there are " + std::to_string(links_->times.size()) +
                                " times for " + std::to_string(count) + " links");
  require_ids(links_->sources, graph_->num_nodes(), "node");
  require_ids(links_->destinations, graph_->num_nodes(), "node");
  require_ids(order_, count, "link");
  require_negatives(*graph_, negatives_);
  negatives_.draws.pad = kNoNode;
}

BatchSeeds LinkSeeds::seeds_of(std::uint64_t batch, RandomKey key) const {
  const auto places = cut_.part(order_, batch);
  const std::size_t count = places.size();
  BatchSeeds seeds;
  std::vector<NodeId>& nodes = seeds.nodes;
  const auto append = [&](const std::vector<std::int64_t>& column) {
    for (const std::int64_t place : places)
      nodes.push_back(column[static_cast<std::size_t>(place)]);
  };
  append(links_->sources);
  std::size_t num_sources = count;  // negative ones and all
  if (negatives_.mode == NegativeMode::kBinary) {
    const std::vector<NodeId> pairs = draw_pairs(count, key.with(kNegatives));
    const auto half = pairs.begin() + static_cast<std::ptrdiff_t>(pairs.size() / 2);
    num_sources += pairs.size() / 2;
    nodes.insert(nodes.end(), pairs.begin(), half);
    append(links_->destinations);
    nodes.insert(nodes.end(), half, pairs.end());
  } else {
    append(links_->destinations);
  }
  if (negatives_.mode == NegativeMode::kTriplet) {
    const std::vector<NodeId> drawn =
        draw_destinations(std::span(nodes).first(count), key.with(kNegatives));
    const std::size_t num = drawn.size() / count;
    for (std::size_t draw = 0; draw < num; ++draw)
      for (std::size_t link = 0; link < count; ++link) nodes.push_back(drawn[link * num + draw]);
  }
  if (!links_->times.empty())
    for (std::size_t end = 0; end < nodes.size(); ++end) {
      const std::size_t link = (end < num_sources ? end : end - num_sources) % count;
      seeds.times.push_back(links_->times[static_cast<std::size_t>(places[link])]);
    }
  seeds.ends.resize(nodes.size());
  std::iota(seeds.ends.begin(), seeds.ends.end(), 0);
  if (!disjoint_) make_distinct(seeds);
  return seeds;
}

/// Sources, then as many destinations.
std::vector<NodeId> LinkSeeds::draw_pairs(std::size_t num_links, RandomKey key) const {
  const auto num =
      static_cast<std::size_t>(std::ceil(static_cast<double>(num_links) * negatives_.amount));
  std::vector<NodeId> pairs(2 * num);
  const std::span sources = std::span(pairs).first(num), destinations = std::span(pairs).last(num);
  sample_negative_pairs(*graph_, negatives_.draws, key, sources, destinations);
  // If there is no negative pair, there is none for any place.
  if (num > 0 && pairs[0] == kNoNode)
    sample_negative_pairs(*graph_, loosened(negatives_.draws), key.with(kLooseNegatives), sources,
                          destinations);
  return pairs;
}

/// For each source, as many destinations as `amount` says.
std::vector<NodeId> LinkSeeds::draw_destinations(std::span<const NodeId> sources,
                                                 RandomKey key) const {
  const auto num = static_cast<std::size_t>(negatives_.amount);
  std::vector<NodeId> drawn(sources.size() * num);
  sample_negatives(*graph_, sources, EdgeEnd::kDestination, negatives_.draws, key, drawn);
  std::vector<std::size_t> open;
  std::vector<NodeId> open_sources;
  for (std::size_t place = 0; place < drawn.size(); ++place)
    if (drawn[place] == kNoNode) {
      open.push_back(place);
      open_sources.push_back(sources[place / num]);
    }
  if (open.empty()) return drawn;
  std::vector<NodeId> loose(open.size());
  sample_negatives(*graph_, open_sources, EdgeEnd::kDestination, loosened(negatives_.draws),
                   key.with(kLooseNegatives), loose);
  for (std::size_t i = 0; i < open.size(); ++i) drawn[open[i]] = loose[i];
  return drawn;
}

}  // namespace graphmount
