// How walkers walk: what every call that walks has in common, and the checks before the first step.
//
// A walker has a number, from which it knows its start and its random draws, so a walk is a
// function of the key, the walker's number, its start and the options: not of threads, and not of
// the other walkers.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/random.hpp"
#include "graphmount/graph/graph.hpp"

namespace graphmount {

/// What a walker does where it finds no neighbor, or none of positive weight.
enum class DeadEnd { kStay, kEnd };

/// What follows the last step of a walk that has ended.
inline constexpr NodeId kEnded = -1;

inline constexpr std::uint64_t kMaxWalkLength = (std::uint64_t{1} << 31) - 1;

struct WalkOptions {
  /// node2vec: the weight of a step is multiplied by 1/p if it leads back, and by 1/q if it leads
  /// to a node that is no neighbor of the one before.
  double p = 1.0;
  double q = 1.0;
  /// The probability, at each step, of being back at the start instead.
  double restart = 0.0;
  bool weighted = false;
  DeadEnd dead_end = DeadEnd::kStay;
  Direction direction = Direction::kOut;

  /// Whether a step depends on the one before.
  bool is_second_order() const { return p != 1.0 || q != 1.0; }
};

/// As many walkers as there are starts, or `walks_per_start` times as many.
struct Walkers {
  std::span<const NodeId> starts;
  std::uint64_t length;
  RandomKey key;
  std::uint64_t walks_per_start = 1;

  std::uint64_t count() const { return starts.size() * walks_per_start; }
  NodeId start_of(std::uint64_t walker) const { return starts[walker / walks_per_start]; }
  Draws draws_of(std::uint64_t walker) const { return Draws(key.with(walker)); }
};

/// Throws IdError, MissingDataError or std::invalid_argument unless these walks can be walked.
void require_walkable(const Graph& graph, const Walkers& walkers, const WalkOptions& options);

}  // namespace graphmount
