#include "graphmount/loading/link_seeds.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"

namespace graphmount {
namespace {

// A part of a batch's key that no hop of its sample has.
constexpr std::uint64_t kNegatives = std::uint64_t{1} << 32;

/// Makes seeds that are all ends the distinct ones among them; `ends` gets the place of each.
void make_distinct(std::vector<NodeId>& seeds, std::span<std::int64_t> ends) {
  const std::vector<NodeId> all = seeds;
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  std::transform(all.begin(), all.end(), ends.begin(), [&](NodeId end) {
    return std::lower_bound(seeds.begin(), seeds.end(), end) - seeds.begin();
  });
}

/// Moves what is behind the first `count` out of `from`.
std::vector<std::int64_t> cut_off(std::vector<std::int64_t>& from, std::size_t count) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(std::min(count, from.size()));
  std::vector<std::int64_t> rest(first, from.end());
  from.erase(first, from.end());
  return rest;
}

}  // namespace

std::uint64_t Links::checksum() const {
  Xxh64 hash;
  hash.add(std::as_bytes(std::span(sources)));
  hash.add(std::as_bytes(std::span(destinations)));
  return hash.hash();
}

LinkSeeds::LinkSeeds(std::shared_ptr<const Graph> graph, std::shared_ptr<const Links> links,
                     std::vector<std::int64_t> order, std::uint64_t batch_size, bool disjoint,
                     LinkNegatives negatives, LinkTypes types)
    : graph_(std::move(graph)),
      links_(std::move(links)),
      order_(std::move(order)),
      cut_(order_.size(), batch_size),
      disjoint_(disjoint),
      negatives_(std::move(negatives)),
      types_(types) {
  const std::size_t count = links_->sources.size();
  if (links_->destinations.size() != count)
    throw std::invalid_argument(
        say("there are ", count, " sources for ", links_->destinations.size(), " destinations"));
  if (!links_->times.empty() && links_->times.size() != count)
    throw std::invalid_argument(
        say("there are ", links_->times.size(), " times for ", count, " links"));
  require_ids(links_->sources, graph_->num_sources(), "node");
  require_ids(links_->destinations, graph_->num_destinations(), "node");
  require_ids(order_, count, "link");
  if (negatives_.has_times() && links_->times.size() != count)
    throw std::invalid_argument("negatives are drawn by their times, and links have none");
  require_drawable(*graph_, negatives_, links_->times);
}

BatchSeeds LinkSeeds::seeds_of(std::uint64_t batch, RandomKey key, Places places) const {
  const auto links = cut_.part(order_, batch);
  const std::size_t count = links.size();
  BatchSeeds seeds;
  seeds.type = types_.source;
  seeds.destination_type = types_.destination;
  std::vector<NodeId>& nodes = seeds.nodes;
  const auto append = [&](const std::vector<std::int64_t>& column) {
    for (const std::int64_t link : links) nodes.push_back(column[static_cast<std::size_t>(link)]);
  };
  append(links_->sources);
  std::vector<std::int64_t> times;
  if (!links_->times.empty())
    for (const std::int64_t link : links)
      times.push_back(links_->times[static_cast<std::size_t>(link)]);
  std::size_t num_sources = count;  // negative ones and all
  if (negatives_.mode == NegativeMode::kBinary) {
    const std::vector<NodeId> pairs =
        draw_negative_pairs(*graph_, negatives_, count, key.with(kNegatives), places, times);
    const auto half = pairs.begin() + static_cast<std::ptrdiff_t>(pairs.size() / 2);
    num_sources += pairs.size() / 2;
    nodes.insert(nodes.end(), pairs.begin(), half);
    append(links_->destinations);
    nodes.insert(nodes.end(), half, pairs.end());
  } else {
    append(links_->destinations);
  }
  if (negatives_.mode == NegativeMode::kTriplet) {
    const std::vector<NodeId> drawn = draw_negative_destinations(
        *graph_, negatives_, std::span(nodes).first(count), key.with(kNegatives), places, times);
    const std::size_t num = drawn.size() / count;
    for (std::size_t draw = 0; draw < num; ++draw)
      for (std::size_t link = 0; link < count; ++link) nodes.push_back(drawn[link * num + draw]);
  }
  if (!times.empty())
    for (std::size_t end = 0; end < nodes.size(); ++end)
      seeds.times.push_back(times[(end < num_sources ? end : end - num_sources) % count]);
  seeds.ends.resize(nodes.size());
  std::iota(seeds.ends.begin(), seeds.ends.end(), 0);
  std::span<std::int64_t> ends(seeds.ends);
  if (types_.source != types_.destination) {
    seeds.destinations = cut_off(nodes, num_sources);
    seeds.destination_times = cut_off(seeds.times, num_sources);
    const auto of_destinations = ends.subspan(num_sources);
    std::iota(of_destinations.begin(), of_destinations.end(), 0);
    if (!disjoint_) make_distinct(seeds.destinations, of_destinations);
    ends = ends.first(num_sources);
  }
  if (!disjoint_) make_distinct(nodes, ends);
  return seeds;
}

}  // namespace graphmount
