// The picks of one hop where the times of neighbors count: of all nodes at once and in parallel.
//
// How many picks a node has is known only when they are made, so all of them are made before the
// first is handed out, and kept here. A long list that has to be filtered is filtered and sorted by
// time once for all nodes of the hop that ask for it, which may be one in each tree.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/fetch.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/sampling/neighbors/early_picker.hpp"
#include "graphmount/sampling/neighbors/hop_picks.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

/// Memory that hops use one after the other.
struct EarlyMemory {
  /// Where the picks of a node are.
  struct Place {
    std::size_t part, begin;
  };
  /// A node whose list is to be filtered for it and others.
  struct Waiting {
    NodeId node;
    std::size_t at;
    std::int64_t time;
    Draws draws;
    std::size_t num_picked;  // by drawing from the whole list
  };

  std::vector<std::vector<EdgeId>> parts;  // picks, by the work that made them
  std::vector<std::vector<Waiting>> waiting;
  Buffer<Place> places;

  std::size_t bytes() const {
    std::size_t sum = places.bytes();
    for (const auto& part : parts) sum += part.capacity() * sizeof(EdgeId);
    for (const auto& part : waiting) sum += part.capacity() * sizeof(Waiting);
    return sum;
  }
};

template <class Index>
class EarlyPicks {
 public:
  EarlyPicks(const ListView<Index>& lists, PickRule rule, const std::int64_t* times,
             EarlyMemory& memory)
      : picker_(lists, rule, times), memory_(memory) {}

  /// Begins a hop, in which each node is to have `k` picks. `counts` has a place for each node.
  void begin(const HopTargets& targets, std::uint64_t k, std::uint64_t most,
             std::span<std::uint64_t> counts) {
    targets_ = targets;
    k_ = k;
    most_ = most;
    counts_ = counts;
    num_picks_ = 0;
    num_parts_ = 0;
    memory_.places.resize(targets.nodes.size());
  }

  /// Makes the picks of the nodes at [first, last), and says how many each of them has. Throws
  /// BudgetError if there are too many.
  void find(std::size_t first, std::size_t last) {
    constexpr std::size_t kLeastGrain = 256;
    const std::size_t grain = balanced_grain(last - first, kLeastGrain);
    const std::size_t first_part = add_parts((last - first + grain - 1) / grain);
    for (auto& part : memory_.waiting) part.clear();
    memory_.waiting.resize(std::max(memory_.waiting.size(), num_parts_ - first_part));
    parallel_for(last - first, grain, [&](std::size_t begin, std::size_t end) {
      thread_local EarlyScratch scratch;
      const std::size_t part = begin / grain;
      for (std::size_t at = first + begin; at < first + end; ++at) {
        if (at + kFetchedLines < first + end)
          lists().prefetch_range(targets_.nodes[at + kFetchedLines]);
        pick_of(at, first_part + part, memory_.waiting[part], scratch);
      }
    });
    pick_waiting();
  }

  const EdgeId* picks_of(std::size_t at) const {
    const auto [part, begin] = memory_.places[at];
    return memory_.parts[part].data() + begin;
  }

  /// Calls visit(section, begin, end) for what `find` will look at beside the offsets, but for long
  /// lists, of which some entries are drawn.
  template <class Visit>
  void visit_read(NodeId node, const Visit& visit) const {
    const ListRange range = lists().range(node);
    if (range.end - range.begin <= EarlyPicker<Index>::kLongList)
      visit(SectionKind::kIndices, range.begin, range.end);
  }

 private:
  using Waiting = EarlyMemory::Waiting;

  const ListView<Index>& lists() const { return picker_.lists(); }

  /// Room for the picks of `count` pieces of work; returns the first.
  std::size_t add_parts(std::size_t count) {
    const std::size_t first = num_parts_;
    num_parts_ += count;
    if (memory_.parts.size() < num_parts_) memory_.parts.resize(num_parts_);
    for (std::size_t part = first; part < num_parts_; ++part) memory_.parts[part].clear();
    return first;
  }

  void pick_of(std::size_t at, std::size_t part, std::vector<Waiting>& waiting,
               EarlyScratch& scratch) {
    std::vector<EdgeId>& out = memory_.parts[part];
    memory_.places[at] = {part, out.size()};
    const NodeId node = targets_.nodes[at];
    const std::int64_t time = targets_.times.of(at);
    Draws draws = targets_.draws_of(at);
    const bool is_done = picker_.pick(lists().range(node), time, k_, draws, scratch, out);
    if (is_done)
      count_picks(at, out);
    else
      waiting.push_back({node, at, time, draws, out.size() - memory_.places[at].begin});
  }

  void count_picks(std::size_t at, const std::vector<EdgeId>& out) {
    counts_[at] = out.size() - memory_.places[at].begin;
    if (num_picks_.fetch_add(counts_[at], std::memory_order_relaxed) + counts_[at] > most_)
      refuse_num_picks();
  }

  void pick_waiting() {
    std::vector<Waiting> all;
    for (const auto& part : memory_.waiting) all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end(), [](const Waiting& one, const Waiting& other) {
      return std::pair(one.node, one.at) < std::pair(other.node, other.at);
    });
    std::vector<std::span<Waiting>> groups;  // of the same node each
    for (auto begin = all.begin(); begin != all.end();) {
      const auto end = std::find_if(begin, all.end(),
                                    [&](const Waiting& one) { return one.node != begin->node; });
      groups.emplace_back(begin, end);
      begin = end;
    }
    const std::size_t first_part = add_parts(groups.size());
    parallel_each(groups.size(), 1, [&](std::size_t i) { pick_group(groups[i], first_part + i); });
  }

  void pick_group(std::span<const Waiting> group, std::size_t part) {
    const auto by_time = [](const Waiting& one, const Waiting& other) {
      return one.time < other.time;
    };
    const std::int64_t latest = std::max_element(group.begin(), group.end(), by_time)->time;
    std::vector<DatedEntry> entries;
    picker_.find_early(lists().range(group.front().node), latest, entries);
    // In this order for a single node too: its picks must not depend on the others.
    const bool is_sorted = group.size() > 1 || !picker_.takes_last();
    if (is_sorted) std::sort(entries.begin(), entries.end());
    EarlyScratch scratch;
    std::vector<EdgeId>& out = memory_.parts[part];
    for (const Waiting& one : group) {
      const std::size_t begin = out.size();
      out.insert(out.end(), picks_of(one.at), picks_of(one.at) + one.num_picked);
      memory_.places[one.at] = {part, begin};
      const auto end = std::partition_point(
          entries.begin(), entries.end(),
          [&](const DatedEntry& entry) { return !is_sorted || entry.time <= one.time; });
      std::span<DatedEntry> early(entries.begin(), end);
      if (picker_.takes_last()) {
        if (is_sorted) early = early.last(std::min<std::uint64_t>(k_, early.size()));
      } else {
        scratch.entries.assign(early.begin(), early.end());
        early = scratch.entries;
      }
      Draws draws = one.draws;
      picker_.pick_from(early, k_, begin, draws, scratch, out);
      count_picks(one.at, out);
    }
  }

  EarlyPicker<Index> picker_;
  EarlyMemory& memory_;
  HopTargets targets_;
  std::uint64_t k_ = 0, most_ = 0;
  std::span<std::uint64_t> counts_;
  std::atomic<std::uint64_t> num_picks_ = 0;
  std::size_t num_parts_ = 0;
};

}  // namespace graphmount
