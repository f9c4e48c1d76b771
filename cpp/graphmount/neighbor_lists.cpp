#include "graphmount/neighbor_lists.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <tuple>

#include "graphmount/error.hpp"
#include "graphmount/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::int64_t kEdgeGrain = 1 << 16;
constexpr std::int64_t kNodeGrain = 1 << 10;

// An edge as one list sees it. Sorting these, not row numbers, keeps the comparisons in cache.
struct Entry {
  std::int64_t time;
  NodeId neighbor;
  std::int64_t row;

  bool operator<(const Entry& other) const {
    return std::tie(time, neighbor, row) < std::tie(other.time, other.neighbor, other.row);
  }
  bool repeats(const Entry& other) const {
    return time == other.time && neighbor == other.neighbor;
  }
};

// Calls add(owner, neighbor, row) for each list entry that the rows [begin, end) give rise to.
template <class Add>
void for_each_entry(const EdgeColumns& edges, Direction direction, const ListOptions& options,
                    std::int64_t begin, std::int64_t end, const Add& add) {
  const auto& owners = direction == Direction::kIn ? edges.dst : edges.src;
  const auto& others = direction == Direction::kIn ? edges.src : edges.dst;
  for (std::int64_t row = begin; row < end; ++row) {
    const NodeId owner = owners[static_cast<std::size_t>(row)];
    const NodeId other = others[static_cast<std::size_t>(row)];
    if (owner == other && options.drop_self_loops) continue;
    add(owner, other, row);
    // The other half of an undirected edge; a loop has only one.
    if (options.undirected && owner != other) add(other, owner, row);
  }
}

// Sorts one list and removes what dedup asks for; returns the weights of what is left in `sums`.
void finish_list(std::vector<Entry>& list, std::vector<float>& sums, const EdgeColumns& edges,
                 Dedup dedup) {
  std::sort(list.begin(), list.end());
  sums.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const float weight =
        edges.weights ? (*edges.weights)[static_cast<std::size_t>(list[i].row)] : 0.0F;
    if (dedup != Dedup::kKeepAll && kept > 0 && list[kept - 1].repeats(list[i])) {
      if (dedup == Dedup::kSumWeights && !sums.empty()) sums[kept - 1] += weight;
      continue;
    }
    list[kept++] = list[i];
    if (edges.weights) sums.push_back(weight);
  }
  list.resize(kept);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!std::isfinite(sums[i]))
      throw SourceError("the weights of the edges that repeat edge " + std::to_string(list[i].row) +
                        " add up to more than float32 can hold");
  }
}

template <class Value>
void move_list(std::vector<Value>& values, std::int64_t from, std::int64_t to,
               std::int64_t length) {
  if (!values.empty()) std::copy_n(values.begin() + from, length, values.begin() + to);
}

// Closes the gaps that dedup left behind the lists, whose lengths are in `lengths`.
void close_gaps(NeighborLists& lists, const std::vector<std::int64_t>& lengths) {
  std::int64_t to = 0;
  for (std::size_t node = 0; node < lengths.size(); ++node) {
    const std::int64_t from = lists.indptr[node];
    lists.indptr[node] = to;
    if (from != to) {
      move_list(lists.neighbors, from, to, lengths[node]);
      move_list(lists.rows, from, to, lengths[node]);
      move_list(lists.weights, from, to, lengths[node]);
      move_list(lists.times, from, to, lengths[node]);
    }
    to += lengths[node];
  }
  lists.indptr.back() = to;
  const auto size = static_cast<std::size_t>(to);
  lists.neighbors.resize(size);
  lists.rows.resize(size);
  if (!lists.weights.empty()) lists.weights.resize(size);
  if (!lists.times.empty()) lists.times.resize(size);
}

}  // namespace

void check_edges(const EdgeColumns& edges, std::uint64_t num_nodes) {
  const auto is_node = [&](NodeId id) { return static_cast<std::uint64_t>(id) < num_nodes; };
  const auto is_weight = [](float weight) { return std::isfinite(weight) && weight >= 0; };
  // The first bad row, whatever the threads do, so that the error is always the same.
  std::atomic<std::size_t> first_bad = edges.size();
  parallel_for(static_cast<std::int64_t>(edges.size()), kEdgeGrain,
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto row = static_cast<std::size_t>(begin);
                      row < static_cast<std::size_t>(end); ++row) {
                   const bool fine = is_node(edges.src[row]) && is_node(edges.dst[row]) &&
                                     (!edges.weights || is_weight((*edges.weights)[row]));
                   if (fine) continue;
                   std::size_t known = first_bad;
                   while (row < known && !first_bad.compare_exchange_weak(known, row)) {
                   }
                   return;
                 }
               });
  if (first_bad == edges.size()) return;
  const std::size_t row = first_bad;
  const std::string where = "edge " + std::to_string(row) + ": ";
  for (const NodeId id : {edges.src[row], edges.dst[row]}) {
    if (id < 0) throw SourceError(where + "node id " + std::to_string(id) + " is negative");
    if (!is_node(id))
      throw SourceError(where + "node id " + std::to_string(id) +
                        " is not below num_nodes=" + std::to_string(num_nodes));
  }
  throw SourceError(where + "weight " + std::to_string((*edges.weights)[row]) +
                    " is not a finite number of at least 0");
}

NeighborLists build_lists(const EdgeColumns& edges, Direction direction,
                          const ListOptions& options) {
  const auto num_edges = static_cast<std::int64_t>(edges.size());
  const auto num_nodes = static_cast<std::size_t>(options.num_nodes);
  NeighborLists lists;
  lists.indptr.assign(num_nodes + 1, 0);
  parallel_for(num_edges, kEdgeGrain, [&](std::int64_t begin, std::int64_t end) {
    for_each_entry(edges, direction, options, begin, end, [&](NodeId owner, NodeId, std::int64_t) {
      std::atomic_ref(lists.indptr[static_cast<std::size_t>(owner) + 1])
          .fetch_add(1, std::memory_order_relaxed);
    });
  });
  for (std::size_t node = 0; node < num_nodes; ++node) lists.indptr[node + 1] += lists.indptr[node];

  const auto size = static_cast<std::size_t>(lists.indptr.back());
  lists.neighbors.resize(size);
  lists.rows.resize(size);
  if (edges.weights) lists.weights.resize(size);
  if (edges.times) lists.times.resize(size);
  std::vector<std::int64_t> lengths(num_nodes, 0);
  parallel_for(num_edges, kEdgeGrain, [&](std::int64_t begin, std::int64_t end) {
    for_each_entry(edges, direction, options, begin, end,
                   [&](NodeId owner, NodeId neighbor, std::int64_t row) {
                     const auto node = static_cast<std::size_t>(owner);
                     const auto place = static_cast<std::size_t>(
                         lists.indptr[node] +
                         std::atomic_ref(lengths[node]).fetch_add(1, std::memory_order_relaxed));
                     lists.neighbors[place] = neighbor;
                     lists.rows[place] = row;
                   });
  });

  parallel_for(static_cast<std::int64_t>(num_nodes), kNodeGrain,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<Entry> list;
                 std::vector<float> sums;
                 for (auto node = static_cast<std::size_t>(begin);
                      node < static_cast<std::size_t>(end); ++node) {
                   const auto first = static_cast<std::size_t>(lists.indptr[node]);
                   const auto last = static_cast<std::size_t>(lists.indptr[node + 1]);
                   list.clear();
                   for (std::size_t i = first; i < last; ++i) {
                     const std::int64_t row = lists.rows[i];
                     const std::int64_t time =
                         edges.times ? (*edges.times)[static_cast<std::size_t>(row)] : 0;
                     list.push_back({time, lists.neighbors[i], row});
                   }
                   finish_list(list, sums, edges, options.dedup);
                   for (std::size_t i = 0; i < list.size(); ++i) {
                     lists.neighbors[first + i] = list[i].neighbor;
                     lists.rows[first + i] = list[i].row;
                     if (edges.weights) lists.weights[first + i] = sums[i];
                     if (edges.times) lists.times[first + i] = list[i].time;
                   }
                   lengths[node] = static_cast<std::int64_t>(list.size());
                 }
               });
  if (options.dedup != Dedup::kKeepAll) close_gaps(lists, lengths);
  return lists;
}

}  // namespace graphmount
