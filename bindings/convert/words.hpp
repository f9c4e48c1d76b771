// Words that users write, as the core has them.
#pragma once

#include <stdexcept>
#include <string>

#include "graphmount/base/types.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"

namespace graphmount::bindings {

inline Direction to_direction(const std::string& name) {
  if (name == "in") return Direction::kIn;
  if (name == "out") return Direction::kOut;
  throw std::invalid_argument("direction is 'in' or 'out', not '" + name + "'");
}

/// How negatives are drawn.
inline NegativeWeighting to_weighting(const std::string& name) {
  if (name == "uniform") return NegativeWeighting::kUniform;
  if (name == "degree") return NegativeWeighting::kDegree;
  throw std::invalid_argument("weighting is 'uniform' or 'degree', not '" + name + "'");
}

}  // namespace graphmount::bindings
