// The times of nodes, and which nodes are not later than some time: for negatives that must not be
// later than their link. 16 bytes a node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/types.hpp"

namespace graphmount {

class EarlyNodes {
 public:
  /// One time for each node; they are copied.
  explicit EarlyNodes(std::span<const std::int64_t> times);

  std::size_t size() const { return times_.size(); }
  bool is_late(NodeId node, std::int64_t time) const {
    return times_[static_cast<std::size_t>(node)] > time;
  }

  /// How many nodes are not later than a time.
  std::uint64_t count(std::int64_t time) const;

  /// Of these nodes, the one that has `rank` others before it: earlier ones, and those of the same
  /// time with a lower id.
  NodeId at(std::uint64_t rank) const { return by_time_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::int64_t> times_;
  std::vector<NodeId> by_time_;
};

}  // namespace graphmount
