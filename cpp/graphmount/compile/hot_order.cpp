#include "graphmount/compile/hot_order.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {
namespace {

// Nodes that appear less often than this are sorted by counting. Others are few: their entries
// alone would take half a megabyte each.
constexpr std::uint32_t kMany = 1 << 16;

struct HotNode {
  std::uint32_t count;
  std::uint64_t node;
};

void count(std::span<const GraphCompiler* const> compilers, std::span<std::uint32_t> counts,
           const Progress& progress) {
  std::fill(counts.begin(), counts.end(), 0);
  std::uint64_t done = 0, total = 0;
  for (const GraphCompiler* compiler : compilers) total += compiler->num_entries();
  for (const GraphCompiler* compiler : compilers)
    compiler->add_appearances(counts, [&](std::uint64_t entries) {
      done += entries;
      if (progress) progress(done, total);
    });
}

}  // namespace

template <class Id>
void rank_by_count(std::span<const std::uint32_t> counts, std::span<Id> ids) {
  std::vector<std::uint64_t> begins(kMany, 0);  // how many have a count, then the first id of those
  std::vector<HotNode> hot;
  interruptible_for(counts.size(), [&](std::size_t node) {
    if (counts[node] < kMany)
      ++begins[counts[node]];
    else
      hot.push_back({counts[node], node});
  });
  std::uint64_t next = hot.size();
  for (std::uint32_t count = kMany; count-- > 0;) {
    const std::uint64_t size = begins[count];
    begins[count] = next;
    next += size;
  }
  std::stable_sort(hot.begin(), hot.end(),
                   [](const HotNode& a, const HotNode& b) { return a.count > b.count; });
  // In the memory of counts, too: each is read before an id is written to its place.
  interruptible_for(counts.size(), [&](std::size_t node) {
    if (counts[node] < kMany) ids[node] = static_cast<Id>(begins[counts[node]]++);
  });
  for (std::size_t id = 0; id < hot.size(); ++id)
    ids[static_cast<std::size_t>(hot[id].node)] = static_cast<Id>(id);
}

template <class Id>
void hot_ids(std::span<const GraphCompiler* const> compilers, std::span<Id> ids,
             const Progress& progress) {
  constexpr bool kInPlace = std::is_same_v<Id, std::uint32_t>;
  Buffer<std::uint32_t> own(kInPlace ? 0 : ids.size());
  std::span<std::uint32_t> counts = own.span();
  if constexpr (kInPlace) counts = ids;
  count(compilers, counts, progress);
  rank_by_count<Id>(counts, ids);
}

template decltype(rank_by_count<NodeId>) rank_by_count<NodeId>;
template decltype(rank_by_count<std::uint32_t>) rank_by_count<std::uint32_t>;
template decltype(hot_ids<NodeId>) hot_ids<NodeId>;
template decltype(hot_ids<std::uint32_t>) hot_ids<std::uint32_t>;

}  // namespace graphmount
