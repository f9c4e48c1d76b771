// Directions cross as the words that users write.
#pragma once

#include <stdexcept>
#include <string>

#include "graphmount/base/types.hpp"

namespace graphmount::bindings {

inline Direction to_direction(const std::string& name) {
  if (name == "in") return Direction::kIn;
  if (name == "out") return Direction::kOut;
  throw std::invalid_argument("direction is 'in' or 'out', not '" + name + "'");
}

}  // namespace graphmount::bindings
