// Counts how often nodes are met. It grows with the nodes it meets, and is emptied without giving
// its memory back, since the next start meets about as many.
#pragma once

#include <cstdint>
#include <vector>

#include "graphmount/base/random.hpp"
#include "graphmount/graph/ids/id_map.hpp"

namespace graphmount {

struct Visit {
  NodeId node;
  std::int64_t count;
};

class VisitTable {
 public:
  void add(NodeId node, std::int64_t count) {
    const std::uint64_t hash = hash_of(node);
    const auto is_node = [&](NodeId place) { return at(place).node == node; };
    if (const NodeId place = table_.find(hash, is_node); place >= 0) {
      at(place).count += count;
      return;
    }
    table_.reserve_one(visits_.size(), [&](std::uint64_t i) { return hash_of(visits_[i].node); });
    table_.insert(hash, static_cast<NodeId>(visits_.size()));
    visits_.push_back({node, count});
  }

  /// What was added since it was empty, a node only once; may be put into another order before
  /// `clear`, not before `add`.
  std::vector<Visit>& visits() { return visits_; }

  void clear() {
    visits_.clear();
    table_.clear();
  }

 private:
  static std::uint64_t hash_of(NodeId node) { return mix_bits(static_cast<std::uint64_t>(node)); }
  Visit& at(NodeId place) { return visits_[static_cast<std::size_t>(place)]; }

  std::vector<Visit> visits_;
  IdTable table_{64};  // places in `visits_`
};

}  // namespace graphmount
