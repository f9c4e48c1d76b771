#include "graphmount/graph/ids/node_id_table.hpp"

#include <atomic>
#include <bit>
#include <mutex>
#include <optional>
#include <tuple>

#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kMostNodesOfInt32 = std::uint64_t{1} << 31;
// A group overflows by bad luck that never happens, by intent, or because ids are equal. What is
// left after so many doublings is no luck.
constexpr int kMostDoublings = 4;

// Whether no group would get more ids than it has slots.
bool do_groups_hold(const ExternalIds& ids, const IdSlots& slots) {
  if (ids.size() <= slots.group_size()) return true;
  std::vector<std::uint32_t> counts(slots.count() / slots.group_size());
  parallel_each(ids.size(), 1 << 16, [&](std::size_t node) {
    const std::uint64_t group = slots.home(ids.hash(node)) / slots.group_size();
    std::atomic_ref(counts[group]).fetch_add(1, std::memory_order_relaxed);
  });
  return std::ranges::max(counts) <= slots.group_size();
}

// Why a table cannot be made: the first two nodes with the same id, or a group that is full.
struct Obstacle {
  std::uint64_t first, second;
  bool is_full_group = false;

  // Of several obstacles the least is told of, whichever slice it is in.
  auto operator<=>(const Obstacle& other) const {
    return std::tie(is_full_group, second) <=> std::tie(other.is_full_group, other.second);
  }
};

// A slice while it is made. Keys are compared only where 32 bits of their hashes are equal.
template <class Slot>
class Slice {
 public:
  // Says what is in the way, if something is.
  std::optional<Obstacle> build(const ExternalIds& ids, const IdSlots& slots, SlotRange range) {
    const auto size = static_cast<std::size_t>(range.end - range.begin);
    nodes_.resize(size);
    tags_.resize(size);
    std::fill_n(nodes_.data(), size, Slot{-1});
    std::optional<Obstacle> obstacle;
    const auto prefetch = [&](std::uint64_t home) {
      __builtin_prefetch(&nodes_[static_cast<std::size_t>(home - range.begin)], 1);
      __builtin_prefetch(&tags_[static_cast<std::size_t>(home - range.begin)], 1);
    };
    const auto insert = [&](std::uint64_t node, std::uint64_t hash) {
      if (obstacle) return;
      const auto tag = static_cast<std::uint32_t>(hash >> 32);
      const std::uint64_t home = slots.home(hash);
      std::uint64_t slot = home;
      do {
        const auto i = static_cast<std::size_t>(slot - range.begin);
        if (nodes_[i] < 0) {
          nodes_[i] = static_cast<Slot>(node);
          tags_[i] = tag;
          return;
        }
        const auto other = static_cast<std::size_t>(nodes_[i]);
        if (tags_[i] == tag && ids.are_equal(other, static_cast<std::size_t>(node))) {
          obstacle = {other, node};
          return;
        }
        slot = slots.next(slot);
      } while (slot != home);
      obstacle = {.first = node, .second = node, .is_full_group = true};
    };
    for_each_at_home(
        ids.size(), slots, range, [&](std::uint64_t node) { return ids.hash(node); }, prefetch,
        insert, check_interrupt);
    return obstacle;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(nodes_.span()); }

 private:
  Buffer<Slot> nodes_;
  Buffer<std::uint32_t> tags_;
};

template <class Slot>
void build(const ExternalIds& ids, const IdSlots& slots, std::uint64_t memory,
           const std::function<void(std::span<const std::byte>)>& append) {
  const auto ranges = cut_slots(slots, memory / (sizeof(Slot) + sizeof(std::uint32_t)));
  std::vector<Slice<Slot>> slices(std::min(ranges.size(), static_cast<std::size_t>(num_threads())));
  std::optional<Obstacle> obstacle;
  for (std::size_t first = 0; first < ranges.size(); first += slices.size()) {
    const std::size_t count = std::min(slices.size(), ranges.size() - first);
    std::mutex mutex;
    parallel_each(count, 1, [&](std::size_t i) {
      const auto found = slices[i].build(ids, slots, ranges[first + i]);
      const std::lock_guard lock(mutex);
      if (found && (!obstacle || *found < *obstacle)) obstacle = found;
    });
    for (std::size_t i = 0; i < count && !obstacle; ++i) append(slices[i].bytes());
  }
  if (!obstacle) return;
  if (obstacle->is_full_group)
    throw SourceError(
        "node_ids: more than 4096 external ids have hashes that are almost equal, which does not "
        "happen by chance; no table can be made of them");
  throw SourceError(say("node_ids: nodes ", obstacle->first, " and ", obstacle->second,
                        " have the same external id ",
                        ids.show(static_cast<std::size_t>(obstacle->second))));
}

}  // namespace

DType slot_dtype(std::uint64_t num_nodes) {
  return num_nodes <= kMostNodesOfInt32 ? DType::kInt32 : DType::kInt64;
}

IdSlots plan_slots(const ExternalIds& ids) {
  const IdSlots least(std::bit_ceil((ids.size() * 4 + 2) / 3));
  for (int doublings = 0; doublings <= kMostDoublings; ++doublings) {
    const IdSlots slots(least.count() << doublings);
    if (do_groups_hold(ids, slots)) return slots;
  }
  return least;
}

std::vector<SlotRange> cut_slots(const IdSlots& slots, std::uint64_t most_slots) {
  // Small slices are no gain: each costs a pass over all ids.
  constexpr std::uint64_t kLeast = 1 << 16;
  const std::uint64_t share =
      std::max(slots.count() / static_cast<std::uint64_t>(num_threads()), kLeast);
  const std::uint64_t size = std::max(
      slots.group_size(), std::bit_floor(std::min(share, std::max<std::uint64_t>(most_slots, 1))));
  std::vector<SlotRange> slices;
  for (std::uint64_t begin = 0; begin < slots.count(); begin += size)
    slices.push_back({begin, std::min(begin + size, slots.count())});
  return slices;
}

void build_node_id_table(const ExternalIds& ids, const IdSlots& slots, DType dtype,
                         std::uint64_t memory,
                         const std::function<void(std::span<const std::byte>)>& append) {
  if (dtype == DType::kInt32)
    build<std::int32_t>(ids, slots, memory, append);
  else
    build<std::int64_t>(ids, slots, memory, append);
}

}  // namespace graphmount
