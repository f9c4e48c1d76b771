// The edges of one layer of a model, as lists: for each row that the layer gives, the rows that it
// takes. And the same edges the other way round, for the way back.
//
// The arrays are the caller's, who may write to them meanwhile: whatever is followed is read once
// and checked.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/fetch.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/base/read_once.hpp"
#include "graphmount/base/vector_loops.hpp"

namespace graphmount {

class EdgeLists {
 public:
  /// The entries of list i are `others[starts[i]]` to `others[starts[i + 1]]`, numbers of
  /// `num_others` rows. Throws std::invalid_argument if there are no starts.
  EdgeLists(std::span<const std::int64_t> starts, std::span<const std::int64_t> others,
            std::uint64_t num_others);

  std::size_t size() const { return starts_.size() - 1; }
  std::size_t num_entries() const { return others_.size(); }
  std::uint64_t num_others() const { return num_others_; }

  struct Range {
    std::size_t begin, end;
  };
  /// The places of a list's entries. Throws std::invalid_argument if they are none.
  Range range(std::size_t list) const {
    const std::uint64_t begin = start(list), end = start(list + 1);
    if (begin > end || end > others_.size()) [[unlikely]]
      refuse(list);
    return {begin, end};
  }

  /// Where a list begins, or the one before ends, as it is.
  std::uint64_t start(std::size_t list) const {
    return static_cast<std::uint64_t>(read_once(starts_.data() + list));
  }

  /// An entry. Throws IdError if there is no such row.
  std::size_t other(std::size_t place) const {
    return static_cast<std::size_t>(read_id(others_, place, num_others_, "row"));
  }

  std::span<const std::int64_t> starts() const { return starts_; }
  std::span<const std::int64_t> others() const { return others_; }

  /// The entry at a place as it is, for a prefetch, which may go anywhere.
  std::uint64_t glance(std::size_t place) const {
    return static_cast<std::uint64_t>(read_once(others_.data() + place));
  }

 private:
  [[noreturn]] static void refuse(std::size_t list);

  std::span<const std::int64_t> starts_, others_;
  std::uint64_t num_others_;
};

/// Has memory fetch the row of an entry, which is looked at soon: into the first cache, or, where
/// more than that holds is on its way, into the second.
template <class Value>
GRAPHMOUNT_INLINE void fetch_row(const EdgeLists& lists, std::size_t place, const Value* rows,
                                 std::size_t columns, bool is_much = false) {
  if (place >= lists.num_entries()) return;
  // As a number: an entry that is no row leads to no array.
  const std::uintptr_t row =
      reinterpret_cast<std::uintptr_t>(rows) + lists.glance(place) * columns * sizeof(Value);
  for (std::size_t at = 0; at < columns * sizeof(Value); at += kLineBytes) {
    const auto* const line = reinterpret_cast<const void*>(row + at);
    is_much ? fetch_line(line) : __builtin_prefetch(line);
  }
}

/// Whether the lists follow each other from the first entry to the last, and all entries are rows.
bool are_sound(const EdgeLists& lists);

/// The same edges by the row that they take: for each of `lists.num_others()` rows, the lists that
/// have it, in order, and the places of these entries. `starts` has one place more than there are
/// such rows, the others have one for each entry. By counting: nothing is compared.
void turn_round(const EdgeLists& lists, std::span<std::int64_t> starts,
                std::span<std::int64_t> owners, std::span<std::int64_t> places);

/// A number that is another one for other lists: to know whether something was made of them.
std::uint64_t fingerprint(const EdgeLists& lists);

/// The same lists, each with one entry more at its front: its own row. Entries that were that
/// before are left out. Returns how many entries there are now; `others` has room for one more a
/// list. Needs as many rows as lists at least.
std::size_t add_self_loops(const EdgeLists& lists, std::span<std::int64_t> starts,
                           std::span<std::int64_t> others);

}  // namespace graphmount
