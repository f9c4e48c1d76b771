// Skip-gram pairs: the nodes that lie within a window of each other on random walks, with
// negatives.
//
// A window does not reach over a restart, where a walker jumps: the stretches between restarts are
// taken as walks of their own. Pairs come walk by walk, by the place of the center, then by that of
// the context. The walks are those of `random_walk` with the same key, and negatives are drawn for
// each walker by itself, so a walker's pairs do not depend on the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/sampling/walks/walk_options.hpp"
#include "graphmount/system/memory/result_memory.hpp"

namespace graphmount {

class SkipGramWalks {
 public:
  /// Walks. The window is how far apart center and context may be, and at least 1. Throws what
  /// `random_walk` throws, and BudgetError.
  SkipGramWalks(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                std::uint64_t window);

  std::uint64_t num_pairs() const { return first_pair_.back(); }

  /// Writes all pairs; there must be room for as many.
  void write_pairs(std::span<NodeId> centers, std::span<NodeId> contexts) const;

  /// Draws `count` negatives for each pair. Throws std::invalid_argument if there are no list
  /// entries to draw from, and FormatError.
  void write_negatives(const Graph& graph, std::uint64_t count, NegativeWeighting weighting,
                       std::span<NodeId> out) const;

 private:
  // Calls `use` with the places [begin, end) of each stretch of a walk, in a row of the walks.
  template <class Use>
  void each_stretch(std::uint64_t walker, const Use& use) const;

  std::uint64_t num_walks_, columns_, window_;
  RandomKey key_;
  Direction direction_;
  ResultBuffer rows_;  // nodes, those after a restart with a mark
  std::vector<std::uint64_t> first_pair_;
};

}  // namespace graphmount
