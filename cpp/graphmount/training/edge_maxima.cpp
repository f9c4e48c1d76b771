#include "graphmount/training/edge_maxima.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "graphmount/base/error.hpp"
#include "graphmount/training/list_loops.hpp"

namespace graphmount {
namespace {

void require_sizes(bool do_fit) {
  if (!do_fit)
    throw std::invalid_argument("rows, winners or results are more or fewer than the edges need");
}

/// Places of 32 bits are as wide as floats, and so compared and chosen twice as fast.
void require_few(const EdgeLists& lists) {
  if (lists.num_entries() > INT32_MAX)
    throw BudgetError("a layer has more than 2^31 edges; take fewer seeds at a time");
}

template <class Value, class Width>
GRAPHMOUNT_INLINE void largest_tile(const EdgeLists& lists, EdgeLists::Range range,
                                    const Value* rows, std::size_t columns, Width count, Value* out,
                                    std::int32_t* winners) {
  using Real = SumType<Value>;
  Real best[kTileColumns];
  std::int32_t winner[kTileColumns];
  for (std::size_t i = 0; i < count; ++i) best[i] = -std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < count; ++i) winner[i] = static_cast<std::int32_t>(range.begin);
  for (std::size_t place = range.begin; place < range.end; ++place) {
    const Value* const row = rows + lists.other(place) * columns;
    const auto own = static_cast<std::int32_t>(place);
    for (std::size_t i = 0; i < count; ++i) {
      // The negation lets a NaN win, and the first of them stay.
      const Real value = value_of(row[i]);
      const bool is_larger = !(value <= best[i]) & (best[i] == best[i]);
      best[i] = is_larger ? value : best[i];
      winner[i] = is_larger ? own : winner[i];
    }
  }
  const bool is_empty = range.begin == range.end;
  for (std::size_t i = 0; i < count; ++i) out[i] = rounded_to<Value>(is_empty ? 0 : best[i]);
  for (std::size_t i = 0; i < count; ++i) winners[i] = is_empty ? -1 : winner[i];
}

/// A value, or 0. By its bits: for a choice, compilers make loads that wait for each other.
template <class Value>
GRAPHMOUNT_INLINE Value value_if(bool is_so, Value value) {
  using Bits =
      std::conditional_t<sizeof(Value) == 8, std::uint64_t,
                         std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint16_t>>;
  return std::bit_cast<Value>(static_cast<Bits>(std::bit_cast<Bits>(value) & (Bits{0} - is_so)));
}

/// What comes back along edges: of the gradient that an entry leads to, the columns that it won.
template <class Value>
struct Won {
  const EdgeLists& turned;
  const std::int64_t* places;  // those of the entries, before the lists were turned round
  const Value* gradient;
  const std::int32_t* winners;
  std::size_t columns;

  /// Has memory fetch what an entry needs, which is looked at later.
  GRAPHMOUNT_INLINE void fetch(std::size_t entry) const {
    fetch_row(turned, entry, gradient, columns, true);
    fetch_row(turned, entry, winners, columns, true);
  }

  /// All columns of one entry: most rows have no other.
  GRAPHMOUNT_INLINE void take_row(std::size_t entry, Value* __restrict out) const {
    const std::size_t from = turned.other(entry) * columns;
    const Value* __restrict values = gradient + from;
    const std::int32_t* __restrict winner = winners + from;
    const auto place = static_cast<std::int32_t>(places[entry]);
    for (std::size_t i = 0; i < columns; ++i) out[i] = value_if(winner[i] == place, values[i]);
  }

  /// Sums so many columns from `at` on, at most a tile, and adds `base` if it is there.
  template <class Width>
  GRAPHMOUNT_INLINE void sum_tile(EdgeLists::Range range, std::size_t at, Width count,
                                  const Value* base, Value* out) const {
    SumType<Value> sums[kTileColumns] = {};
    for (std::size_t entry = range.begin; entry < range.end; ++entry) {
      const std::size_t from = turned.other(entry) * columns + at;
      const Value* const values = gradient + from;
      const std::int32_t* const winner = winners + from;
      const auto place = static_cast<std::int32_t>(places[entry]);
      for (std::size_t i = 0; i < count; ++i)
        sums[i] += value_of(value_if(winner[i] == place, values[i]));
    }
    if (base != nullptr)
      for (std::size_t i = 0; i < count; ++i) sums[i] += value_of(base[i]);
    for (std::size_t i = 0; i < count; ++i) out[i] = rounded_to<Value>(sums[i]);
  }
};

}  // namespace

template <class Value>
void largest_rows(const EdgeLists& lists, std::size_t columns, std::span<const Value> rows,
                  std::span<Value> out, std::span<std::int32_t> winners) {
  require_few(lists);
  require_sizes(rows.size() == lists.num_others() * columns &&
                out.size() == lists.size() * columns && winners.size() == out.size());
  for_lists(lists, [&](std::size_t first, std::size_t last) __attribute__((always_inline)) {
    for (std::size_t list = first; list < last; ++list) {
      const EdgeLists::Range range = lists.range(list);
      const std::size_t num_next = std::min(range.end - range.begin, kRowsAhead);
      for (std::size_t i = 0; i < num_next; ++i)
        fetch_row(lists, range.end + i, rows.data(), columns);
      for_each_tile(columns, [&](std::size_t at, auto width) __attribute__((always_inline)) {
        const std::size_t to = list * columns + at;
        largest_tile(lists, range, rows.data() + at, columns, width, out.data() + to,
                     winners.data() + to);
      });
    }
  });
}

template <class Value>
void return_to_winners(const EdgeLists& turned, std::span<const std::int64_t> places,
                       std::size_t columns, std::span<const Value> gradient,
                       std::span<const std::int32_t> winners, std::span<const Value> of_first,
                       std::span<Value> out) {
  require_few(turned);
  require_sizes(gradient.size() == turned.num_others() * columns &&
                winners.size() == gradient.size() && places.size() == turned.num_entries() &&
                of_first.size() <= out.size() && (columns == 0 || of_first.size() % columns == 0) &&
                out.size() == turned.size() * columns);
  const Won<Value> won{turned, places.data(), gradient.data(), winners.data(), columns};
  for_lists(turned, [&](std::size_t first, std::size_t last) __attribute__((always_inline)) {
    for (std::size_t row = first; row < last; ++row) {
      const EdgeLists::Range range = turned.range(row);
      const std::size_t count = range.end - range.begin, to = row * columns;
      for (std::size_t i = 0; i < std::min(count, kRowsAhead); ++i) won.fetch(range.end + i);
      const Value* const base = to < of_first.size() ? of_first.data() + to : nullptr;
      if (count == 1 && base == nullptr) {
        won.take_row(range.begin, out.data() + to);
        continue;
      }
      for_each_tile(columns, [&](std::size_t at, auto width) __attribute__((always_inline)) {
        const Value* const own = base == nullptr ? nullptr : base + at;
        won.sum_tile(range, at, width, own, out.data() + to + at);
      });
    }
  });
}

template decltype(largest_rows<float>) largest_rows<float>;
template decltype(return_to_winners<float>) return_to_winners<float>;
template decltype(largest_rows<double>) largest_rows<double>;
template decltype(return_to_winners<double>) return_to_winners<double>;
template decltype(largest_rows<Float16>) largest_rows<Float16>;
template decltype(return_to_winners<Float16>) return_to_winners<Float16>;
template decltype(largest_rows<BFloat16>) largest_rows<BFloat16>;
template decltype(return_to_winners<BFloat16>) return_to_winners<BFloat16>;

}  // namespace graphmount
