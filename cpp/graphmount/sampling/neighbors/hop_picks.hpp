// What a sampler asks of the lists that it picks from, whatever the width of their ids: the picks
// of a hop, and all edges between nodes that it has.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "graphmount/base/error.hpp"
#include "graphmount/base/places.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/sampling/neighbors/sample_numbers.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// Nodes whose picks are the work of one thread, and the places of these.
struct PickChunk {
  std::size_t first_node, end_node;
  std::size_t begin, end;
};

/// Where the picks go: the id of the edge, the neighbor, and the place of the node that picked it.
/// Rows have neighbors only, and both others are not looked at.
struct PickedEdges {
  std::int64_t* edge_ids = nullptr;
  std::int64_t* neighbors = nullptr;
  std::int64_t* targets = nullptr;
};

/// The times up to which nodes may have picks, by the trees that they belong to; none for any time.
struct TargetTimes {
  const std::int64_t* times = nullptr;
  const std::int64_t* trees = nullptr;

  std::int64_t of(std::size_t at) const { return times == nullptr ? 0 : times[trees[at]]; }
};

/// The nodes that pick in a hop.
struct HopTargets {
  std::span<const NodeId> nodes;
  std::size_t first = 0;  // the place of the first of them among the nodes of their type
  TargetTimes times = {};
  RandomKey key = RandomKey(0);         // of the hop and the relation
  const std::int64_t* trees = nullptr;  // of the nodes, if each seed has one
  Places places = {};

  /// What a node draws depends on the key and its place. In a tree, which has a node only once, it
  /// depends on the place of the tree and the node, and so not on other trees.
  Draws draws_of(std::size_t at) const {
    if (trees == nullptr) return Draws(key.with(places.of(first + at)));
    const RandomKey of_tree = key.with(places.of(static_cast<std::uint64_t>(trees[at])));
    return Draws(of_tree.with(static_cast<std::uint64_t>(nodes[at])));
  }
};

/// What distinguishes the nodes of a sample: the id, and the tree if each seed has one.
struct NodeKeys {
  std::uint64_t num_nodes = 0;          // of the type of the neighbors
  const std::int64_t* trees = nullptr;  // of the targets, if there are trees

  std::uint64_t key(NodeId node, std::size_t target) const {
    const auto number = static_cast<std::uint64_t>(node);
    return trees == nullptr ? number
                            : static_cast<std::uint64_t>(trees[target]) * num_nodes + number;
  }
};

/// Where induced edges go: all three are made as long as there are edges.
struct InducedEdges {
  Buffer<std::int64_t>&neighbors, &targets, &edge_ids;
};

[[noreturn]] inline void refuse_num_picks() {
  throw BudgetError(
      "the sample has more than 2^32 edges; sample fewer seeds at a time, or fewer neighbors of "
      "each node");
}

class HopPicks {
 public:
  using ChunkDone = std::function<void(const PickChunk&)>;

  virtual ~HopPicks() = default;

  /// Returns how many picks there will be if each node is to have `k`, of what is not later than
  /// its time. Throws BudgetError beyond `most`. The nodes and their trees must stay until all is
  /// picked, their times only until all is planned.
  virtual std::uint64_t plan(const HopTargets& targets, std::uint64_t k, std::uint64_t most) = 0;
  /// Where the picks of each node begin.
  virtual std::span<const std::uint64_t> starts() const = 0;
  virtual std::span<const PickChunk> chunks() const = 0;
  /// Picks what was planned. The target of a pick is the place of its node. Calls done(chunk) when
  /// one is written, from any thread.
  virtual void pick(PickedEdges out, const ChunkDone& done) = 0;
  /// Writes all edges that lead from `neighbors`, which have these numbers, to `targets`, and are
  /// not later than these, by target, in the order of the lists.
  virtual void induce(const HopTargets& targets, std::span<const NodeId> neighbors,
                      const SampleNumbers& numbers, const NodeKeys& keys,
                      InducedEdges out) const = 0;
};

}  // namespace graphmount
