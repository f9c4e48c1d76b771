#include "graphmount/sampling/negatives/node_weights.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/base/read_once.hpp"

namespace graphmount {

NodeWeights::NodeWeights(std::span<const double> weights) {
  up_to_.reserve(weights.size());
  double total = 0;
  interruptible_for(weights.size(), [&](std::size_t node) {
    const double weight = read_once(&weights[node]);
    if (!(weight >= 0) || !std::isfinite(weight))
      throw std::invalid_argument(say("the weight of node ", node, " is ", weight,
                                      "; give a finite number that is not below 0"));
    if (weight > 0) last_ = static_cast<NodeId>(node);
    up_to_.push_back(total += weight);
  });
  if (!(total > 0) || !std::isfinite(total))
    throw std::invalid_argument(
        say("the weights of all nodes sum up to ", total, ", so there is no node to draw"));
}

NodeId NodeWeights::at(double unit) const {
  const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), unit * up_to_.back());
  // A product that is rounded up may fall on no node.
  return std::min<NodeId>(found - up_to_.begin(), last_);
}

}  // namespace graphmount
