#include "graphmount/sampling/walks/walk_options.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"

namespace graphmount {
namespace {

std::string show(double value) {
  return (std::ostringstream() << value).str();
}

// Its inverse is a factor of probabilities, and must be a number as well.
void require_bias(const char* name, double value) {
  if (value > 0.0 && std::isfinite(value) && std::isfinite(1.0 / value)) return;
  throw std::invalid_argument(std::string(name) + " must be positive and finite, not " +
                              show(value));
}

}  // namespace

void require_walkable(const Graph& graph, const Walkers& walkers, const WalkOptions& options) {
  require_bias("p", options.p);
  require_bias("q", options.q);
  if (!(options.restart >= 0.0 && options.restart <= 1.0))
    throw std::invalid_argument("restart is a probability, from 0 to 1, not " +
                                show(options.restart));
  if (walkers.length > kMaxWalkLength)
    throw std::invalid_argument(
        say("length must be at most ", kMaxWalkLength, ", not ", walkers.length));
  if (!checked_multiply(walkers.starts.size(), walkers.walks_per_start))
    throw std::invalid_argument("there are more walks than 64 bits can count");
  require_ids(walkers.starts, graph.num_nodes(), "node");
  if (graph.find(SectionKind::kAlias, options.direction) == nullptr && options.weighted)
    throw MissingDataError(graph.mount().file().path(),
                           "the edges have no weights; compile the graph with weights=, or walk "
                           "with weighted=False");
}

}  // namespace graphmount
