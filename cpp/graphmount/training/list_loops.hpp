// Lists of edges divided among threads, which run the widest vectors there are; and sums of what
// their entries have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "graphmount/base/half_floats.hpp"
#include "graphmount/base/vector_loops.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/team.hpp"
#include "graphmount/training/edge_lists.hpp"

namespace graphmount {

/// Calls body(first, last) for ranges of lists. All parts of it must be GRAPHMOUNT_INLINE.
template <class Body>
void for_lists(const EdgeLists& lists, const Body& body) {
  constexpr std::size_t kLeastLists = 64;
  team_for(lists.size(), balanced_grain(lists.size(), kLeastLists),
           [&](std::size_t first, std::size_t last) {
             run_vectorized([&]() __attribute__((always_inline)) { body(first, last); });
           });
}

/// Sums what `source` has for the entries of each list, or takes the mean, and adds `bases` to the
/// first lists. All its calls must be GRAPHMOUNT_INLINE: fetch(place) has memory fetch what an
/// entry needs, which is looked at later; take(place, out) gives all columns of the only entry of a
/// list, since most have no other on the way back; add(place, head, column, sums, count) adds so
/// many columns, at most a tile.
template <class Value, class Source>
void sum_lists(const EdgeLists& lists, RowShape shape, const Source& source, bool is_mean,
               std::span<const Value> bases, Value* out) {
  using Sum = SumType<Value>;
  for_lists(lists, [&](std::size_t first, std::size_t last) __attribute__((always_inline)) {
    for (std::size_t list = first; list < last; ++list) {
      const EdgeLists::Range range = lists.range(list);
      const std::size_t count = range.end - range.begin, to = list * shape.columns();
      for (std::size_t i = 0; i < std::min(count, kRowsAhead); ++i) source.fetch(range.end + i);
      const Value* const base = to < bases.size() ? bases.data() + to : nullptr;
      if (count == 1 && base == nullptr) {
        source.take(range.begin, out + to);
        continue;
      }
      const Sum scale = is_mean && count != 0 ? Sum{1} / static_cast<Sum>(count) : Sum{1};
      for (std::size_t head = 0; head < shape.heads; ++head) {
        for_each_tile(shape.width, [&](std::size_t at, auto width) __attribute__((always_inline)) {
          const std::size_t column = head * shape.width + at;
          Sum sums[kTileColumns] = {};
          for (std::size_t place = range.begin; place < range.end; ++place)
            source.add(place, head, column, sums, width);
          for (std::size_t i = 0; i < width; ++i) sums[i] *= scale;
          if (base != nullptr)
            for (std::size_t i = 0; i < width; ++i) sums[i] += value_of(base[column + i]);
          Value* const own = out + to + column;
          for (std::size_t i = 0; i < width; ++i) own[i] = rounded_to<Value>(sums[i]);
        });
      }
    }
  });
}

}  // namespace graphmount
