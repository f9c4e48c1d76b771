// Nodes drawn in proportion to weights that a user gives, one for each node: 8 bytes a node, and
// one search by halving a draw. A node of weight 0 is never drawn.
#pragma once

#include <span>
#include <vector>

#include "graphmount/base/types.hpp"

namespace graphmount {

class NodeWeights {
 public:
  /// Throws std::invalid_argument, naming the first weight that is below 0 or no number, or if all
  /// are 0.
  explicit NodeWeights(std::span<const double> weights);

  std::size_t size() const { return up_to_.size(); }

  /// The node that a number in [0, 1) falls on.
  NodeId at(double unit) const;

 private:
  std::vector<double> up_to_;  // sums of the weights up to each node and with it
  NodeId last_ = 0;            // that can be drawn
};

}  // namespace graphmount
