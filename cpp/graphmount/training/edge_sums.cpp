#include "graphmount/training/edge_sums.hpp"

#include <algorithm>
#include <stdexcept>

#include "graphmount/base/vector_loops.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/team.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kLeastLists = 64;

void require_sizes(bool do_fit) {
  if (!do_fit)
    throw std::invalid_argument("rows, factors or results are more or fewer than the edges need");
}

/// Has memory fetch the row of an entry, which is looked at later.
template <class Real>
GRAPHMOUNT_INLINE void fetch(const EdgeLists& lists, std::size_t place, const Real* rows,
                             std::size_t columns) {
  if (place >= lists.num_entries()) return;
  // As a number: an entry that is no row leads to no array.
  const std::uintptr_t row =
      reinterpret_cast<std::uintptr_t>(rows) + lists.glance(place) * columns * sizeof(Real);
  for (std::size_t at = 0; at < columns * sizeof(Real); at += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(row + at));
}

/// Sums `width` columns, at most a tile, of the rows of a list.
template <bool kIsFull, class Real>
GRAPHMOUNT_INLINE void sum_tile(const EdgeLists& lists, EdgeLists::Range range, const Real* rows,
                                std::size_t columns, std::size_t width, const Real* factors,
                                std::size_t heads, Real scale, Real* out) {
  Real sums[kTileColumns] = {};
  const std::size_t count = kIsFull ? kTileColumns : width;
  for (std::size_t place = range.begin; place < range.end; ++place) {
    const Real* const row = rows + lists.other(place) * columns;
    if (factors == nullptr) {
      for (std::size_t i = 0; i < count; ++i) sums[i] += row[i];
    } else {
      const Real factor = factors[place * heads];
      for (std::size_t i = 0; i < count; ++i) sums[i] += factor * row[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = sums[i] * scale;
}

/// The sum of one row: on the way back, most lists have no other.
template <class Real>
GRAPHMOUNT_INLINE void take_row(const Real* __restrict row, RowShape shape, const Real* factors,
                                Real* __restrict out) {
  for (std::size_t head = 0; head < shape.heads; ++head) {
    const Real factor = factors == nullptr ? Real{1} : factors[head];
    for (std::size_t i = 0; i < shape.width; ++i) out[i] = factor * row[i];
    row += shape.width;
    out += shape.width;
  }
}

template <class Real>
GRAPHMOUNT_INLINE void sum_lists(const EdgeLists& lists, std::size_t first, std::size_t last,
                                 RowShape shape, const Real* rows, const Real* factors,
                                 bool is_mean, Real* out) {
  const std::size_t columns = shape.columns();
  for (std::size_t list = first; list < last; ++list) {
    const EdgeLists::Range range = lists.range(list);
    const std::size_t count = range.end - range.begin;
    for (std::size_t i = 0; i < std::min(count, kRowsAhead); ++i)
      fetch(lists, range.end + i, rows, columns);
    Real* const sums = out + list * columns;
    if (count == 1) {
      take_row(rows + lists.other(range.begin) * columns, shape,
               factors == nullptr ? nullptr : factors + range.begin * shape.heads, sums);
      continue;
    }
    const Real scale = is_mean && count != 0 ? Real{1} / static_cast<Real>(count) : Real{1};
    for (std::size_t head = 0; head < shape.heads; ++head) {
      for (std::size_t at = 0; at < shape.width; at += kTileColumns) {
        const std::size_t column = head * shape.width + at;
        const std::size_t width = std::min(kTileColumns, shape.width - at);
        const Real* const own = factors == nullptr ? nullptr : factors + head;
        if (width == kTileColumns)
          sum_tile<true>(lists, range, rows + column, columns, width, own, shape.heads, scale,
                         sums + column);
        else
          sum_tile<false>(lists, range, rows + column, columns, width, own, shape.heads, scale,
                          sums + column);
      }
    }
  }
}

template <class Real>
GRAPHMOUNT_INLINE void multiply_lists(const EdgeLists& lists, std::size_t first, std::size_t last,
                                      RowShape shape, const Real* left, const Real* right,
                                      Real* out) {
  constexpr std::size_t kLanes = 16;  // sums side by side, or one would wait for the other
  const std::size_t columns = shape.columns();
  for (std::size_t list = first; list < last; ++list) {
    const EdgeLists::Range range = lists.range(list);
    for (std::size_t place = range.begin; place < range.end; ++place) {
      fetch(lists, place + kRowsAhead, right, columns);
      const Real* const other = right + lists.other(place) * columns;
      for (std::size_t head = 0; head < shape.heads; ++head) {
        const Real* const one = left + list * columns + head * shape.width;
        const Real* const two = other + head * shape.width;
        Real sums[kLanes] = {};
        std::size_t at = 0;
        for (; at + kLanes <= shape.width; at += kLanes)
          for (std::size_t i = 0; i < kLanes; ++i) sums[i] += one[at + i] * two[at + i];
        for (std::size_t i = 0; at + i < shape.width; ++i) sums[i] += one[at + i] * two[at + i];
        Real sum = 0;
        for (const Real part : sums) sum += part;
        out[place * shape.heads + head] = sum;
      }
    }
  }
}

}  // namespace

template <class Real>
void sum_rows(const EdgeLists& lists, RowShape shape, std::span<const Real> rows,
              std::span<const Real> factors, bool is_mean, std::span<Real> out) {
  require_sizes(rows.size() == lists.num_others() * shape.columns() &&
                (factors.empty() || factors.size() == lists.num_entries() * shape.heads) &&
                out.size() == lists.size() * shape.columns());
  const Real* const own = factors.empty() ? nullptr : factors.data();
  team_for(lists.size(), balanced_grain(lists.size(), kLeastLists),
           [&](std::size_t first, std::size_t last) {
             run_vectorized([&]() __attribute__((always_inline)) {
               sum_lists(lists, first, last, shape, rows.data(), own, is_mean, out.data());
             });
           });
}

template <class Real>
void multiply_rows(const EdgeLists& lists, RowShape shape, std::span<const Real> left,
                   std::span<const Real> right, std::span<Real> out) {
  require_sizes(left.size() == lists.size() * shape.columns() &&
                right.size() == lists.num_others() * shape.columns() &&
                out.size() == lists.num_entries() * shape.heads);
  team_for(lists.size(), balanced_grain(lists.size(), kLeastLists),
           [&](std::size_t first, std::size_t last) {
             run_vectorized([&]() __attribute__((always_inline)) {
               multiply_lists(lists, first, last, shape, left.data(), right.data(), out.data());
             });
           });
}

template void sum_rows(const EdgeLists&, RowShape, std::span<const float>, std::span<const float>,
                       bool, std::span<float>);
template void sum_rows(const EdgeLists&, RowShape, std::span<const double>, std::span<const double>,
                       bool, std::span<double>);
template void multiply_rows(const EdgeLists&, RowShape, std::span<const float>,
                            std::span<const float>, std::span<float>);
template void multiply_rows(const EdgeLists&, RowShape, std::span<const double>,
                            std::span<const double>, std::span<double>);

}  // namespace graphmount
