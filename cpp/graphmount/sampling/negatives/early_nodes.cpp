#include "graphmount/sampling/negatives/early_nodes.hpp"

#include <algorithm>
#include <numeric>

namespace graphmount {

EarlyNodes::EarlyNodes(std::span<const std::int64_t> times)
    : times_(times.begin(), times.end()), by_time_(times.size()) {
  std::iota(by_time_.begin(), by_time_.end(), 0);
  // Of the copy: the caller's array may change meanwhile, and an order must stay one.
  std::stable_sort(by_time_.begin(), by_time_.end(), [this](NodeId one, NodeId other) {
    return times_[static_cast<std::size_t>(one)] < times_[static_cast<std::size_t>(other)];
  });
}

std::uint64_t EarlyNodes::count(std::int64_t time) const {
  const auto behind = std::partition_point(by_time_.begin(), by_time_.end(),
                                           [&](NodeId node) { return !is_late(node, time); });
  return static_cast<std::uint64_t>(behind - by_time_.begin());
}

}  // namespace graphmount
