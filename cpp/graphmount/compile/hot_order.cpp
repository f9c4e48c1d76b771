#include "graphmount/compile/hot_order.hpp"

#include <algorithm>
#include <array>
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

// `ids` may be the memory of `counts`: each count is read before an id is written to its place.
template <class Id>
void rank(std::span<const std::uint32_t> counts, std::span<Id> ids) {
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
  interruptible_for(counts.size(), [&](std::size_t node) {
    if (counts[node] < kMany) ids[node] = static_cast<Id>(begins[counts[node]]++);
  });
  for (std::size_t id = 0; id < hot.size(); ++id)
    ids[static_cast<std::size_t>(hot[id].node)] = static_cast<Id>(id);
}

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

void rank_by_count(std::span<std::uint32_t> counts) {
  rank<std::uint32_t>(counts, counts);
}

void rank_by_count(std::span<const std::uint32_t> counts, std::span<NodeId> ids) {
  rank<NodeId>(counts, ids);
}

void hot_ids(std::span<const GraphCompiler* const> compilers, std::span<std::uint32_t> ids,
             const Progress& progress) {
  count(compilers, ids, progress);
  rank_by_count(ids);
}

void hot_ids(std::span<const GraphCompiler* const> compilers, std::span<NodeId> ids,
             const Progress& progress) {
  Buffer<std::uint32_t> counts(ids.size());
  count(compilers, counts.span(), progress);
  rank_by_count(counts.span(), ids);
}

}  // namespace graphmount
