// A slow twin of neighbor lists that cannot be wrong: all entries, sorted by all they have.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "graphmount/compile/neighbor_lists.hpp"
#include "random_edges.hpp"

namespace graphmount::testing {

struct NaiveOptions {
  std::uint64_t first_node = 0, end_node = 0;  // there are no other owners
  Direction direction = Direction::kIn;
  bool with_times = false;
  bool undirected = false;
  bool drop_self_loops = false;
  Dedup dedup = Dedup::kKeepAll;
};

struct NaiveLists {
  std::vector<std::int64_t> offsets, neighbors, rows;
  std::vector<float> weights;
  std::vector<std::int64_t> times;
};

inline NaiveLists naive_lists(const Edges& edges, const NaiveOptions& options) {
  struct Entry {
    NodeId owner;
    std::int64_t time;
    NodeId neighbor;
    std::size_t row;
    auto operator<=>(const Entry&) const = default;
    bool repeats(const Entry& other) const {
      return owner == other.owner && time == other.time && neighbor == other.neighbor;
    }
  };
  std::vector<Entry> entries;
  for (std::size_t row = 0; row < edges.src.size(); ++row) {
    NodeId owner = edges.src[row], other = edges.dst[row];
    if (options.direction == Direction::kIn) std::swap(owner, other);
    if (owner == other && options.drop_self_loops) continue;
    const std::int64_t time = options.with_times ? edges.times[row] : 0;
    entries.push_back({owner, time, other, row});
    if (options.undirected && owner != other) entries.push_back({other, time, owner, row});
  }
  std::sort(entries.begin(), entries.end());
  NaiveLists lists;
  lists.offsets.resize(options.end_node - options.first_node + 1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (options.dedup != Dedup::kKeepAll && i > 0 && entry.repeats(entries[i - 1])) {
      if (options.dedup == Dedup::kSumWeights) lists.weights.back() += edges.weights[entry.row];
      continue;
    }
    lists.neighbors.push_back(entry.neighbor);
    lists.rows.push_back(static_cast<std::int64_t>(entry.row));
    lists.weights.push_back(edges.weights[entry.row]);
    lists.times.push_back(entry.time);
    ++lists.offsets[static_cast<std::uint64_t>(entry.owner) - options.first_node + 1];
  }
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  return lists;
}

}  // namespace graphmount::testing
