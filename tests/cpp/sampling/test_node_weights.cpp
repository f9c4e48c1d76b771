// Nodes by weight: each has its share of [0, 1), nodes of weight 0 have none, and wrong weights are
// refused.
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "graphmount/sampling/negatives/node_weights.hpp"

using namespace graphmount;

TEST(every_node_has_its_share) {
  const std::vector<double> weights{0, 1, 0, 2, 1, 0};
  const NodeWeights nodes(weights);
  CHECK_EQUAL(nodes.size(), 6U);
  CHECK_EQUAL(nodes.at(0), 1);
  CHECK_EQUAL(nodes.at(0.2499), 1);
  CHECK_EQUAL(nodes.at(0.25), 3);
  CHECK_EQUAL(nodes.at(0.7499), 3);
  CHECK_EQUAL(nodes.at(0.75), 4);
  CHECK_EQUAL(nodes.at(std::nextafter(1.0, 0.0)), 4);
}

TEST(rounding_never_leads_to_a_node_of_weight_0) {
  const std::vector<double> weights{0.1, 0.2, 0.7, 0, 0};
  CHECK_EQUAL(NodeWeights(weights).at(1.0), 2);
}

TEST(wrong_weights_are_refused) {
  using Weights = std::vector<double>;
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(NodeWeights(Weights{1, -1}), std::invalid_argument, "node 1 is -1");
  CHECK_THROWS_WITH(NodeWeights(Weights{std::nan("")}), std::invalid_argument, "node 0");
  CHECK_THROWS_WITH(NodeWeights(Weights{1, infinity}), std::invalid_argument, "node 1 is inf");
  CHECK_THROWS_WITH(NodeWeights(Weights{0, 0}), std::invalid_argument, "no node to draw");
  CHECK_THROWS_WITH(NodeWeights(Weights{}), std::invalid_argument, "no node to draw");
  CHECK_THROWS_WITH(NodeWeights(Weights{1e308, 1e308}), std::invalid_argument, "no node to draw");
}
