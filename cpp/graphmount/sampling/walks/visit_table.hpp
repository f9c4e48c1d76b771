// Counts how often nodes are met: a hash table that grows with the nodes it meets, and is emptied
// without giving its memory back, since the next start is about as large.
#pragma once

#include <cstdint>
#include <vector>

#include "graphmount/base/random.hpp"
#include "graphmount/base/types.hpp"

namespace graphmount {

struct Visit {
  NodeId node;
  std::int64_t count;
};

class VisitTable {
 public:
  void add(NodeId node, std::int64_t count) {
    std::size_t slot = first_slot(node);
    while (slots_[slot] != 0) {
      Visit& visit = visits_[slots_[slot] - 1];
      if (visit.node == node) {
        visit.count += count;
        return;
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    visits_.push_back({node, count});
    slots_[slot] = visits_.size();
    if (visits_.size() * 2 > slots_.size()) grow();
  }

  /// What was added since it was empty, a node only once; may be put into another order before
  /// `clear`, not before `add`.
  std::vector<Visit>& visits() { return visits_; }

  void clear() {
    visits_.clear();
    slots_.assign(slots_.size(), 0);
  }

 private:
  std::size_t first_slot(NodeId node) const {
    return mix_bits(static_cast<std::uint64_t>(node)) & (slots_.size() - 1);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (std::size_t i = 0; i < visits_.size(); ++i) {
      std::size_t slot = first_slot(visits_[i].node);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i + 1;
    }
  }

  std::vector<Visit> visits_;
  std::vector<std::size_t> slots_ = std::vector<std::size_t>(64);  // 1 + the place in visits_
};

}  // namespace graphmount
