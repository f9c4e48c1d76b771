// The hash table by which a node is found from its external id: a section of slots, each of which
// holds a node or -1. docs/format.md says which slot.
//
// A node lies in the group of slots that its id leads to, so a slice of whole groups can be made,
// or checked, without the rest of the table. That is how both are done: slice by slice, in memory
// of bounded size, each with a pass over all ids in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "graphmount/base/fetch.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/graph/ids/external_ids.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

/// Slots are tried from an id's home on, to the end of its group and then from its beginning.
class IdSlots {
 public:
  static constexpr std::uint64_t kGroup = 4096;

  /// `count` is a power of two.
  explicit IdSlots(std::uint64_t count) : count_(count), group_mask_(std::min(count, kGroup) - 1) {}

  std::uint64_t count() const { return count_; }
  std::uint64_t group_size() const { return group_mask_ + 1; }
  std::uint64_t home(std::uint64_t hash) const { return hash & (count_ - 1); }
  std::uint64_t next(std::uint64_t slot) const {
    return (slot & ~group_mask_) | ((slot + 1) & group_mask_);
  }

 private:
  std::uint64_t count_, group_mask_;
};

/// How much memory each thread takes to make or check a table, if nothing else is asked for.
inline constexpr std::uint64_t kTableMemory = 64 << 20;

/// int32 where that can hold every node.
DType slot_dtype(std::uint64_t num_nodes);

/// How many slots a table of these ids has: the least power of two that leaves a quarter of them
/// empty, or more if a group would overflow. Where that does not help, building will say why.
IdSlots plan_slots(const ExternalIds& ids);

struct SlotRange {
  std::uint64_t begin, end;
};
/// Cuts a table into slices of whole groups, at most `most_slots` each and enough for all threads.
std::vector<SlotRange> cut_slots(const IdSlots& slots, std::uint64_t most_slots);

/// Makes a table slice by slice and hands it to `append` in order, the same for any number of
/// threads and any `memory`, which is that of one thread, in bytes. Throws SourceError if two ids
/// are equal, with the first node that has a twin before it, or if a group overflows.
void build_node_id_table(const ExternalIds& ids, const IdSlots& slots, DType dtype,
                         std::uint64_t memory,
                         const std::function<void(std::span<const std::byte>)>& append);

/// use(node, hash) for each node from 0 to num_nodes - 1 whose home is in the slice, in order, some
/// time after prefetch(home). hash_of(node) gives the hashes; tick() is called now and then.
template <class HashOf, class Prefetch, class Use, class Tick>
void for_each_at_home(std::uint64_t num_nodes, const IdSlots& slots, SlotRange slice,
                      const HashOf& hash_of, const Prefetch& prefetch, const Use& use,
                      const Tick& tick) {
  constexpr std::size_t kAhead = 32, kTick = 1 << 16;
  struct Pending {
    std::uint64_t node, hash;
  };
  std::array<Pending, kAhead> ring{};
  std::size_t waiting = 0, done = 0;
  for (std::uint64_t node = 0; node < num_nodes; ++node) {
    if (node % kTick == 0) tick();
    const std::uint64_t hash = hash_of(node), home = slots.home(hash);
    if (home < slice.begin || home >= slice.end) continue;
    Pending& place = ring[waiting++ % kAhead];
    if (waiting > kAhead) use(place.node, place.hash), ++done;
    place = {node, hash};
    prefetch(home);
  }
  for (; done < waiting; ++done) use(ring[done % kAhead].node, ring[done % kAhead].hash);
}

/// Looks up keys in a table: out[i] = the node of key i, or -1. node_in(slot) gives the node in a
/// slot, or -1; `keys` has hash(i), is(i, node), and prefetch(node, stage) for each of its kStages
/// stages: what is(i, node) will read, as far as the stages before have made it known.
///
/// Looking up waits for memory, so many keys are on their way at the same time, and each goes one
/// step further when the others have had their turn.
template <class Slot, class NodeIn, class Keys>
void find_in_table(const IdSlots& slots, const Slot* data, const NodeIn& node_in, const Keys& keys,
                   std::span<NodeId> out) {
  constexpr std::size_t kAhead = 128;
  struct Probe {
    std::size_t key;
    std::uint64_t slot, home;
    NodeId node;
  };
  parallel_for(out.size(), 1 << 12, [&](std::size_t begin, std::size_t end) {
    std::array<Probe, kAhead> probes;
    for (std::size_t first = begin; first < end; first += kAhead) {
      std::size_t count = std::min(kAhead, end - first);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t home = slots.home(keys.hash(first + i));
        probes[i] = {first + i, home, home, -1};
        fetch_line(data + home);
      }
      while (count > 0) {
        std::size_t live = 0;
        for (std::size_t i = 0; i < count; ++i) {
          Probe probe = probes[i];
          probe.node = node_in(probe.slot);
          if (probe.node < 0) {
            out[probe.key] = -1;
            continue;
          }
          keys.prefetch(probe.node, 0);
          probes[live++] = probe;
        }
        for (int stage = 1; stage < Keys::kStages; ++stage)
          for (std::size_t i = 0; i < live; ++i) keys.prefetch(probes[i].node, stage);
        count = std::exchange(live, 0);
        for (std::size_t i = 0; i < count; ++i) {
          Probe probe = probes[i];
          const bool is_found = keys.is(probe.key, probe.node);
          probe.slot = slots.next(probe.slot);
          if (is_found || probe.slot == probe.home)
            out[probe.key] = is_found ? probe.node : -1;
          else
            probes[live++] = probe;
        }
        count = live;
      }
    }
  });
}

}  // namespace graphmount
