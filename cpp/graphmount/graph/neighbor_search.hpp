// Whether a node is in a neighbor list. It is looked up one cache line at a time, so that the
// caller can do something else while a line is fetched.
//
// Lists are sorted by id, and ids are often spread evenly. So the first looks go where the id would
// be in that case, and find it in two or three lines of a list of any length. If ids are not spread
// evenly, the rest is bisection. Values are only compared and never followed: a damaged list gives
// some answer, after no more looks than a good one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graphmount/base/fetch.hpp"
#include "graphmount/graph/graph.hpp"

namespace graphmount {

enum class Found { kUnknown, kPresent, kAbsent };

template <class Index>
class NeighborSearch {
 public:
  /// Begins to look for `node` in a list of `indices`, and asks for the first line.
  void start(const Index* indices, ListRange list, NodeId node, std::uint64_t num_nodes) {
    low_ = list.begin;
    high_ = list.end;
    low_id_ = 0;
    high_id_ = static_cast<NodeId>(num_nodes);
    node_ = node;
    num_looks_ = 0;
    if (!is_over()) aim(indices);
  }

  /// The entries that the next look is at, which must not be the last one.
  ListRange line() const {
    const EdgeId first = place_ / kLine * kLine;
    return {std::max(low_, first), std::min(high_, first + kLine)};
  }

  /// Whether the list is empty, so that there is nothing to search.
  bool is_over() const { return low_ >= high_; }

  /// Looks at the line that was prefetched. If that does not decide, prefetches the next one.
  Found look(const Index* indices) {
    if (is_over()) return Found::kAbsent;
    const auto [begin, end] = line();
    const auto first = static_cast<NodeId>(indices[begin]);
    const auto last = static_cast<NodeId>(indices[end - 1]);
    if (node_ < first) {
      high_ = begin;
      high_id_ = first;
    } else if (node_ > last) {
      low_ = end;
      low_id_ = last;
    } else {
      const auto wanted = static_cast<Index>(node_);
      place_ = std::find(indices + begin, indices + end, wanted) - indices;
      return place_ < end ? Found::kPresent : Found::kAbsent;
    }
    if (is_over()) return Found::kAbsent;
    aim(indices);
    return Found::kUnknown;
  }

  /// How often the node is in the list, once it has been found there.
  std::int64_t count(const Index* indices, ListRange list) const {
    const auto wanted = static_cast<Index>(node_);
    EdgeId begin = place_, end = place_ + 1;
    while (begin > list.begin && indices[begin - 1] == wanted) --begin;
    while (end < list.end && indices[end] == wanted) ++end;
    return end - begin;
  }

 private:
  static constexpr EdgeId kLine = 64 / sizeof(Index);  // sections begin at multiples of 64 KiB
  static constexpr int kGuesses = 3;

  void aim(const Index* indices) {
    const EdgeId length = high_ - low_;
    place_ = low_ + length / 2;
    if (num_looks_++ < kGuesses && low_id_ <= node_ && node_ < high_id_) {
      const double share =
          static_cast<double>(node_ - low_id_) / static_cast<double>(high_id_ - low_id_);
      const auto guess = static_cast<EdgeId>(share * static_cast<double>(length));
      place_ = low_ + std::min(guess, length - 1);
    }
    fetch_line(indices + place_);
  }

  EdgeId low_ = 0, high_ = 0, place_ = 0;
  NodeId low_id_ = 0, high_id_ = 0, node_ = 0;
  int num_looks_ = 0;
};

}  // namespace graphmount
