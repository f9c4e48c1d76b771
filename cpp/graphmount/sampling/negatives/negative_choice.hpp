// The exact way to a negative: leave out the nodes that are not allowed, and choose one of the
// others by its rank.
//
// For draws by degree, a place in the lists of the other direction is chosen, where each node has
// as many places as its degree. Choosing takes time in proportion to the list of the kept end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graphmount/graph/list_view.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/sampling/negatives/remaining_numbers.hpp"

namespace graphmount {

template <class Index, class ReverseIndex>
class NegativeChoice {
 public:
  NegativeChoice(const NegativeOptions& options, const ListView<Index>& lists,
                 const ListView<ReverseIndex>& reverse)
      : options_(options), lists_(lists), reverse_(reverse) {}

  /// Makes ready for choosing the other end of edges of `kept`.
  void prepare(NodeId kept) {
    collect_excluded(kept);
    rest_.reset(is_by_degree() ? reverse_.num_edges() : lists_.num_neighbors());
    for (const NodeId node : excluded_) {
      if (!is_by_degree()) {
        rest_.exclude(static_cast<std::uint64_t>(node), static_cast<std::uint64_t>(node) + 1);
        continue;
      }
      const ListRange range = reverse_.range(node);
      if (!rest_.exclude(static_cast<std::uint64_t>(range.begin),
                         static_cast<std::uint64_t>(range.end)))
        lists_.graph().refuse_range(node, range, reverse_.stored_direction());
    }
  }

  /// What is left, in the measure of the weighting: nodes, or edges that have them at their end.
  std::uint64_t count() const { return rest_.count(); }

  /// The choice that has `rank` others before it; `rank` is below the count.
  NodeId at(std::uint64_t rank) const {
    const std::uint64_t found = rest_.at(rank);
    return is_by_degree() ? owner_of(static_cast<EdgeId>(found)) : static_cast<NodeId>(found);
  }

 private:
  bool is_by_degree() const { return options_.weighting == NegativeWeighting::kDegree; }

  void collect_excluded(NodeId kept) {
    excluded_.clear();
    if (options_.is_strict) {
      const ListRange range = lists_.range(kept);
      for (EdgeId position = range.begin; position < range.end; ++position)
        excluded_.push_back(lists_.neighbor(position));
      // Lists that are sorted by time are not, and damaged ones may not be.
      if (!std::is_sorted(excluded_.begin(), excluded_.end()))
        std::sort(excluded_.begin(), excluded_.end());
    }
    if (!options_.allows_self_loops)
      excluded_.insert(std::lower_bound(excluded_.begin(), excluded_.end(), kept), kept);
    excluded_.erase(std::unique(excluded_.begin(), excluded_.end()), excluded_.end());
  }

  // The node in whose list a position is.
  NodeId owner_of(EdgeId position) const {
    const std::int64_t* indptr = reverse_.indptr();
    const std::int64_t* behind = std::upper_bound(indptr, indptr + reverse_.num_lists(), position);
    const NodeId node = std::max<NodeId>(behind - indptr - 1, 0);
    const ListRange range = reverse_.range(node);
    if (position < range.begin || position >= range.end)  // offsets that do not ascend
      lists_.graph().refuse_range(node, range, reverse_.stored_direction());
    return node;
  }

  const NegativeOptions& options_;
  const ListView<Index>& lists_;
  const ListView<ReverseIndex>& reverse_;
  std::vector<NodeId> excluded_;
  RemainingNumbers rest_;
};

}  // namespace graphmount
