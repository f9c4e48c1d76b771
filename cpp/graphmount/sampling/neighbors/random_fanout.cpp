#include "graphmount/sampling/neighbors/random_fanout.hpp"

#include <algorithm>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/sampling/neighbors/frontier_picks.hpp"

namespace graphmount {
namespace {

struct FanoutScratch {
  FrontierScratch frontier;
  Buffer<NodeId> nodes;  // a copy: the caller's array may change between check and use

  std::size_t bytes() const { return frontier.bytes() + nodes.bytes(); }
};

/// Fills a row that has `count` neighbors of `node`.
void fill_row(std::int64_t* out, std::uint64_t count, NodeId node, std::size_t row,
              const FanoutOptions& options) {
  if (count == options.k) return;
  if (!options.repeat || count == 0)
    return std::fill(out + count, out + options.k, options.repeat ? node : -1);
  std::uint64_t i = count;
  for (; i + count <= options.k; i += count) std::copy(out, out + count, out + i);
  thread_local std::vector<std::uint64_t> places;
  Draws draws(options.key.with(row).with(0));
  pick_distinct(draws, count, options.k - i, places,
                [&](std::uint64_t j, std::uint64_t place) { out[i + j] = out[place]; });
}

}  // namespace

ResultBuffer random_fanout(const Graph& graph, std::span<const NodeId> nodes,
                           const FanoutOptions& options) {
  ResultBuffer out =
      allocate_result(nodes.size(), options.k, say("rows of ", options.k, " neighbors"));
  read_lists(graph, options.direction, [&]<class Index>(const ListView<Index>& lists) {
    Recycled<FanoutScratch> scratch;
    FrontierPicks<Index> picks(lists, options.rule, scratch->frontier);
    scratch->nodes.resize(nodes.size());
    std::copy(nodes.begin(), nodes.end(), scratch->nodes.data());
    const std::span<const NodeId> copied = scratch->nodes.span();
    require_ids(copied, lists.num_lists(), "node");
    picks.plan_rows({.nodes = copied, .key = options.key}, options.k);
    picks.pick({.neighbors = out->data()}, [&](const PickChunk& chunk) {
      for (std::size_t row = chunk.first_node; row < chunk.end_node; ++row)
        fill_row(out->data() + row * options.k, picks.num_picks(row), copied[row], row, options);
    });
  });
  return out;
}

}  // namespace graphmount
