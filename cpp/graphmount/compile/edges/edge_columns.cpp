#include "graphmount/compile/edges/edge_columns.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

void check_edges(const EdgeColumns& edges, const EdgeEnds& ends, std::uint64_t first_row) {
  const auto require_size = [&](std::size_t size, const std::string& name) {
    if (size != edges.size())
      throw std::invalid_argument(
          say(name, " has ", size, " entries for ", edges.size(), " edges"));
  };
  require_size(edges.dst.size(), "dst");
  if (edges.weights) require_size(edges.weights->size(), "weights");
  if (edges.times) require_size(edges.times->size(), "timestamps");
  const auto is_below = [](NodeId id, std::uint64_t end) {
    return static_cast<std::uint64_t>(id) < end;
  };
  // The first bad row, whatever the threads do, so that the error is always the same.
  std::atomic<std::size_t> first_bad = edges.size();
  parallel_for(edges.size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const bool fine = is_below(edges.src[row], ends.num_sources) &&
                        is_below(edges.dst[row], ends.num_destinations) &&
                        (!edges.weights || is_edge_weight((*edges.weights)[row]));
      if (fine) continue;
      lower_to(first_bad, row);
      return;
    }
  });
  if (first_bad == edges.size()) return;
  const std::size_t row = first_bad;
  const std::string where = say("edge ", first_row + row, ": ");
  const auto check_end = [&](NodeId id, std::uint64_t end, const std::string& side) {
    const std::string one = ends.are_of_two_types ? side : "node";
    const std::string all = ends.are_of_two_types ? side + "s" : "nodes";
    if (id < 0) throw SourceError(say(where, one, " id ", id, " is negative"));
    if (!is_below(id, end) && end == kMaxNodes)
      throw SourceError(say(where, one, " id ", id,
                            " is too large for any file; ids='map' numbers ids as they appear"));
    if (!is_below(id, end))
      throw SourceError(say(where, one, " id ", id, " is not below num_", all, "=", end));
  };
  check_end(edges.src[row], ends.num_sources, "source");
  check_end(edges.dst[row], ends.num_destinations, "destination");
  throw SourceError(
      say(where, "weight ", (*edges.weights)[row], " is not a finite number of at least 0"));
}

void refuse_changed_edge(std::uint64_t row) {
  throw SourceError(
      say("edge ", row,
          " was changed while it was in use: it has an id or a weight now that it had "
          "not when the edges were checked; do not write to arrays that are compiled"));
}

}  // namespace graphmount
