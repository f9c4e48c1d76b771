// Slots in lists, each slot in one of them: linked lists in arrays, so that moving a slot costs a
// few writes and the memory is known from the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmount {

class SlotLists {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// All slots are in the first list, in order.
  SlotLists(std::size_t num_slots, std::size_t num_lists) : ends_(num_lists), links_(num_slots) {
    for (std::uint32_t slot = 0; slot < num_slots; ++slot) append(slot, 0);
  }

  std::size_t num_slots() const { return links_.size(); }
  std::uint32_t first(std::size_t list) const { return ends_[list].first; }
  std::uint32_t last(std::size_t list) const { return ends_[list].last; }
  std::size_t list_of(std::uint32_t slot) const { return links_[slot].list; }

  /// Puts a slot at the end of a list.
  void move(std::uint32_t slot, std::size_t list) {
    const Link link = links_[slot];
    (link.before == kNone ? ends_[link.list].first : links_[link.before].after) = link.after;
    (link.after == kNone ? ends_[link.list].last : links_[link.after].before) = link.before;
    append(slot, list);
  }

  std::size_t bytes() const { return links_.capacity() * sizeof(Link); }
  static constexpr std::size_t bytes_per_slot() { return sizeof(Link); }

 private:
  struct Ends {
    std::uint32_t first = kNone, last = kNone;
  };
  struct Link {
    std::uint32_t before, after, list;
  };

  void append(std::uint32_t slot, std::size_t list) {
    Ends& ends = ends_[list];
    links_[slot] = {ends.last, kNone, static_cast<std::uint32_t>(list)};
    (ends.last == kNone ? ends.first : links_[ends.last].after) = slot;
    ends.last = slot;
  }

  std::vector<Ends> ends_;
  std::vector<Link> links_;
};

}  // namespace graphmount
