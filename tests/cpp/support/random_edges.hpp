// Edges for tests: random ones with as many repetitions and loops as small graphs are bound to
// have.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "graphmount/compile/neighbor_lists.hpp"

namespace graphmount::testing {

struct Edges {
  std::vector<NodeId> src, dst;
  std::vector<float> weights;
  std::vector<std::int64_t> times;

  EdgeColumns columns(bool with_weights = false, bool with_times = false) const {
    EdgeColumns columns{src, dst, std::nullopt, std::nullopt};
    if (with_weights) columns.weights = weights;
    if (with_times) columns.times = times;
    return columns;
  }

  void add(NodeId source, NodeId destination, float weight = 1.0F, std::int64_t time = 0) {
    src.push_back(source);
    dst.push_back(destination);
    weights.push_back(weight);
    times.push_back(time);
  }
};

inline Edges random_edges(std::uint64_t seed, std::int64_t num_nodes, int count) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<NodeId> node(0, num_nodes - 1);
  std::uniform_int_distribution<int> time(-3, 3), weight(0, 8);
  Edges edges;
  // Weights are multiples of 1/8: their sums are exact, in any order.
  for (int i = 0; i < count; ++i)
    edges.add(node(random), node(random), static_cast<float>(weight(random)) / 8.0F, time(random));
  return edges;
}

/// "node-0", "node-1", …, with one empty and one that is not ASCII.
inline std::vector<std::string> some_names(std::uint64_t count) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i) names.push_back("node-" + std::to_string(count - i));
  if (count > 1) names[1] = "";
  if (count > 2)
    names[2] =
        "Kn\xC3\xB6"
        "del";
  return names;
}

}  // namespace graphmount::testing
