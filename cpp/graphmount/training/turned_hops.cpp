#include "graphmount/training/turned_hops.hpp"

#include <bit>
#include <numeric>
#include <stdexcept>

#include "graphmount/training/edge_lists.hpp"

namespace graphmount {
namespace {

/// Sums of the first numbers.
std::size_t sum_of(std::span<const std::int64_t> counts, std::size_t count) {
  const auto first = counts.first(count);
  return static_cast<std::size_t>(std::accumulate(first.begin(), first.end(), std::int64_t{0}));
}

/// How many numbers a layer over so many hops takes.
std::size_t layer_size(const HopEdges& edges, std::size_t hops) {
  return sum_of(edges.num_sources, hops + 1) + 2 + 2 * sum_of(edges.num_edges, hops);
}

void require(bool is_so) {
  if (!is_so) throw std::invalid_argument("the hops have more nodes or edges than there are");
}

}  // namespace

std::size_t turned_size(const HopEdges& edges) {
  require(edges.num_targets.size() == edges.num_edges.size() + 1 &&
          edges.num_sources.size() == edges.num_edges.size() + 1);
  std::size_t size = 0;
  for (std::size_t hops = 1; hops < edges.num_edges.size(); ++hops) size += layer_size(edges, hops);
  return size;
}

void turn_hops(const HopEdges& edges, std::span<std::int64_t> out) {
  require(out.size() == turned_size(edges));
  std::size_t done = 0;
  for (std::size_t hops = edges.num_edges.size(); hops-- > 1;) {
    const std::size_t num_targets = sum_of(edges.num_targets, hops);
    const std::size_t num_sources = sum_of(edges.num_sources, hops + 1);
    const std::size_t num_edges = sum_of(edges.num_edges, hops);
    require(num_targets < edges.starts.size() && num_edges <= edges.sources.size());
    const EdgeLists lists(edges.starts.first(num_targets + 1), edges.sources.first(num_edges),
                          num_sources);
    const auto layer = out.subspan(done, layer_size(edges, hops));
    layer[0] = std::bit_cast<std::int64_t>(fingerprint(lists));
    turn_round(lists, layer.subspan(1, num_sources + 1), layer.subspan(num_sources + 2, num_edges),
               layer.subspan(num_sources + 2 + num_edges, num_edges));
    done += layer.size();
  }
}

}  // namespace graphmount
