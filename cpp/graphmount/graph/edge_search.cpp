#include "graphmount/graph/edge_search.hpp"

#include <optional>
#include <stdexcept>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

struct Pairs {
  std::span<const NodeId> sources, destinations;
};

// Lists of one direction, or of both.
template <class Index>
struct EdgeLists {
  std::optional<ListView<Index>> outgoing, incoming;

  void prefetch_ranges(NodeId source, NodeId destination) const {
    if (outgoing) outgoing->prefetch_range(source);
    if (incoming) incoming->prefetch_range(destination);
  }

  EdgeLookup<Index> start(NodeId source, NodeId destination) const {
    std::optional<ListRange> out, in;
    if (outgoing) out = outgoing->range(source);
    if (incoming) in = incoming->range(destination);
    const bool takes_out = out && (!in || out->end - out->begin <= in->end - in->begin);
    if (takes_out) return {&*outgoing, *out, destination, false, {}};
    return {&*incoming, *in, source, false, {}};
  }
};

template <class Index>
void find_in_lists(const Graph& graph, const EdgeLists<Index>& lists, const Pairs& pairs,
                   std::span<std::uint8_t> out) {
  const bool is_sorted_by_time = graph.mount().header().has(kFlagSortedByTime);
  const std::uint64_t num_sources = graph.num_sources();
  const std::uint64_t num_destinations = graph.num_destinations();
  const std::size_t grain = balanced_grain(out.size(), 1 << 10);
  parallel_for(out.size(), grain, [&](std::size_t begin, std::size_t end) {
    std::array<EdgeLookup<Index>, kMostLookups> lookups;
    for (std::size_t first = begin; first < end; first += kMostLookups) {
      const std::size_t size = std::min(kMostLookups, end - first);
      for (std::size_t i = 0; i < size; ++i)
        lists.prefetch_ranges(pairs.sources[first + i], pairs.destinations[first + i]);
      for (std::size_t i = 0; i < size; ++i)
        lookups[i] =
            lists.start(read_id(pairs.sources, first + i, num_sources, "source"),
                        read_id(pairs.destinations, first + i, num_destinations, "destination"));
      settle_lookups(std::span(lookups).first(size), is_sorted_by_time);
      for (std::size_t i = 0; i < size; ++i) out[first + i] = lookups[i].is_found ? 1 : 0;
    }
  });
}

}  // namespace

void find_edges(const Graph& graph, std::span<const NodeId> sources,
                std::span<const NodeId> destinations, std::span<std::uint8_t> out) {
  if (sources.size() != destinations.size() || sources.size() != out.size())
    throw std::invalid_argument(say("there are ", sources.size(), " sources and ",
                                    destinations.size(),
                                    " destinations; every source needs one destination"));
  require_ids(sources, graph.num_sources(), "source");
  require_ids(destinations, graph.num_destinations(), "destination");
  const bool has_out = graph.is_undirected() || graph.has_lists(Direction::kOut);
  const bool has_in = graph.has_lists(Direction::kIn);
  // One type for both lists: in a file where they differ, one of them has to do.
  const bool takes_both = has_out && has_in &&
                          graph.find(SectionKind::kIndices, Direction::kOut)->dtype ==
                              graph.find(SectionKind::kIndices, Direction::kIn)->dtype;
  const Direction first = has_out ? Direction::kOut : Direction::kIn;
  read_lists(graph, first, [&]<class Index>(const ListView<Index>& view) {
    EdgeLists<Index> lists;
    (has_out ? lists.outgoing : lists.incoming) = view;
    if (takes_both) lists.incoming.emplace(graph, Direction::kIn);
    find_in_lists(graph, lists, {sources, destinations}, out);
  });
}

}  // namespace graphmount
