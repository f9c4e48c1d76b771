// How negatives are drawn crosses as the word that users write.
#pragma once

#include <stdexcept>
#include <string>

#include "graphmount/sampling/negatives/negative_sampling.hpp"

namespace graphmount::bindings {

inline NegativeWeighting to_weighting(const std::string& name) {
  if (name == "uniform") return NegativeWeighting::kUniform;
  if (name == "degree") return NegativeWeighting::kDegree;
  throw std::invalid_argument("weighting is 'uniform' or 'degree', not '" + name + "'");
}

}  // namespace graphmount::bindings
