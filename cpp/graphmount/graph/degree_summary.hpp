// How the degrees of a graph are distributed, found in one pass over the offsets.
#pragma once

#include <array>
#include <cstdint>

#include "graphmount/graph/graph.hpp"

namespace graphmount {

struct DegreeSummary {
  std::int64_t smallest = 0, median = 0, ninety_percent = 0, ninety_nine_percent = 0, largest = 0;
  double mean = 0.0;
  /// [0] counts the nodes of degree 0, [1] of 1, [2] of 2 and 3, [3] of 4 to 7, and so on.
  std::array<std::int64_t, 64> histogram{};
};

/// Percentiles above 2^16 are exact only to within their place in the histogram (its lower end).
DegreeSummary summarize_degrees(const Graph& graph, Direction direction);

}  // namespace graphmount
