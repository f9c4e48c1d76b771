#include "graphmount/training/edge_sums.hpp"

#include <algorithm>
#include <stdexcept>

#include "graphmount/training/list_loops.hpp"

namespace graphmount {
namespace {

void require_sizes(bool do_fit) {
  if (!do_fit)
    throw std::invalid_argument("rows, factors or results are more or fewer than the edges need");
}

/// What entries count: all the same.
struct AsTheyAre {
  static constexpr bool kIsOne = true;
};

/// A factor for each entry and head.
template <class Sum>
struct ByFactors {
  static constexpr bool kIsOne = false;
  const Sum* factors;
  std::size_t heads;

  Sum operator()(const EdgeLists&, std::size_t place, std::size_t head) const {
    return factors[place * heads + head];
  }
};

/// A share of the list that an entry leads to: on the way back of a mean.
template <class Sum>
struct ByShares {
  static constexpr bool kIsOne = false;
  EdgeLists lists;  // that were averaged
  ByFactors<Sum> factors;

  Sum operator()(const EdgeLists& turned, std::size_t place, std::size_t head) const {
    const EdgeLists::Range range = lists.range(turned.other(place));
    const std::size_t count = std::max<std::size_t>(1, range.end - range.begin);
    const Sum share = Sum{1} / static_cast<Sum>(count);
    return factors.factors == nullptr ? share : share * factors(turned, place, head);
  }
};

/// Sums so many columns, at most a tile, of the rows of a list, and adds `base` if it is there.
template <class Value, class Width, class Factor>
GRAPHMOUNT_INLINE void sum_tile(const EdgeLists& lists, EdgeLists::Range range, const Value* rows,
                                std::size_t columns, Width count, const Factor& factor,
                                std::size_t head, SumType<Value> scale, const Value* base,
                                Value* out) {
  SumType<Value> sums[kTileColumns] = {};
  for (std::size_t place = range.begin; place < range.end; ++place) {
    const Value* const row = rows + lists.other(place) * columns;
    if constexpr (Factor::kIsOne) {
      for (std::size_t i = 0; i < count; ++i) sums[i] += value_of(row[i]);
    } else {
      const SumType<Value> own = factor(lists, place, head);
      for (std::size_t i = 0; i < count; ++i) sums[i] += own * value_of(row[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) sums[i] *= scale;
  if (base != nullptr)
    for (std::size_t i = 0; i < count; ++i) sums[i] += value_of(base[i]);
  for (std::size_t i = 0; i < count; ++i) out[i] = rounded_to<Value>(sums[i]);
}

/// The sum of one row: on the way back, most lists have no other.
template <class Value, class Factor>
GRAPHMOUNT_INLINE void take_row(const EdgeLists& lists, std::size_t place, const Value* rows,
                                RowShape shape, const Factor& factor, Value* __restrict out) {
  const Value* __restrict row = rows + lists.other(place) * shape.columns();
  for (std::size_t head = 0; head < shape.heads; ++head) {
    SumType<Value> own = 1;
    if constexpr (!Factor::kIsOne) own = factor(lists, place, head);
    for (std::size_t i = 0; i < shape.width; ++i)
      out[i] = rounded_to<Value>(own * value_of(row[i]));
    row += shape.width;
    out += shape.width;
  }
}

template <class Value, class Factor>
GRAPHMOUNT_INLINE void sum_lists(const EdgeLists& lists, std::size_t first, std::size_t last,
                                 RowShape shape, const Value* rows, const Factor& factor,
                                 bool is_mean, std::span<const Value> bases, Value* out) {
  using Sum = SumType<Value>;
  const std::size_t columns = shape.columns();
  for (std::size_t list = first; list < last; ++list) {
    const EdgeLists::Range range = lists.range(list);
    const std::size_t count = range.end - range.begin;
    for (std::size_t i = 0; i < std::min(count, kRowsAhead); ++i)
      fetch_row(lists, range.end + i, rows, columns);
    Value* const sums = out + list * columns;
    const Value* const base =
        list * columns < bases.size() ? bases.data() + list * columns : nullptr;
    if (count == 1 && base == nullptr) {
      take_row(lists, range.begin, rows, shape, factor, sums);
      continue;
    }
    const Sum scale = is_mean && count != 0 ? Sum{1} / static_cast<Sum>(count) : Sum{1};
    for (std::size_t head = 0; head < shape.heads; ++head) {
      for_each_tile(shape.width, [&](std::size_t at, auto width) __attribute__((always_inline)) {
        const std::size_t column = head * shape.width + at;
        const Value* const own = base == nullptr ? nullptr : base + column;
        sum_tile(lists, range, rows + column, columns, width, factor, head, scale, own,
                 sums + column);
      });
    }
  }
}

template <class Value, class Factor>
void sum_all(const EdgeLists& lists, RowShape shape, const Value* rows, const Factor& factor,
             bool is_mean, std::span<const Value> bases, Value* out) {
  for_lists(lists, [&](std::size_t first, std::size_t last) __attribute__((always_inline)) {
    sum_lists(lists, first, last, shape, rows, factor, is_mean, bases, out);
  });
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
      fetch_row(lists, place + kRowsAhead, right, columns);
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

template <class Value>
void sum_rows(const EdgeLists& lists, RowShape shape, std::span<const Value> rows,
              std::span<const SumType<Value>> factors, bool is_mean, std::span<Value> out) {
  using Sum = SumType<Value>;
  require_sizes(rows.size() == lists.num_others() * shape.columns() &&
                (factors.empty() || factors.size() == lists.num_entries() * shape.heads) &&
                out.size() == lists.size() * shape.columns());
  if (factors.empty())
    sum_all<Value>(lists, shape, rows.data(), AsTheyAre(), is_mean, {}, out.data());
  else
    sum_all<Value>(lists, shape, rows.data(), ByFactors<Sum>{factors.data(), shape.heads}, is_mean,
                   {}, out.data());
}

template <class Value>
void return_sums(const EdgeLists& turned, RowShape shape, std::span<const Value> gradient,
                 std::span<const SumType<Value>> factors, std::span<const std::int64_t> starts,
                 std::span<const Value> of_first, std::span<Value> out) {
  using Sum = SumType<Value>;
  require_sizes(gradient.size() == turned.num_others() * shape.columns() &&
                (factors.empty() || factors.size() == turned.num_entries() * shape.heads) &&
                (starts.empty() || starts.size() == turned.num_others() + 1) &&
                of_first.size() <= out.size() &&
                (shape.columns() == 0 || of_first.size() % shape.columns() == 0) &&
                out.size() == turned.size() * shape.columns());
  const ByFactors<Sum> own{factors.empty() ? nullptr : factors.data(), shape.heads};
  // Only the lengths of these lists are looked at, and none has more entries than there are.
  if (!starts.empty())
    sum_all(turned, shape, gradient.data(),
            ByShares<Sum>{EdgeLists(starts, turned.others(), 0), own}, false, of_first, out.data());
  else if (factors.empty())
    sum_all(turned, shape, gradient.data(), AsTheyAre(), false, of_first, out.data());
  else
    sum_all(turned, shape, gradient.data(), own, false, of_first, out.data());
}

template <class Real>
void multiply_rows(const EdgeLists& lists, RowShape shape, std::span<const Real> left,
                   std::span<const Real> right, std::span<Real> out) {
  require_sizes(left.size() == lists.size() * shape.columns() &&
                right.size() == lists.num_others() * shape.columns() &&
                out.size() == lists.num_entries() * shape.heads);
  for_lists(lists, [&](std::size_t first, std::size_t last) __attribute__((always_inline)) {
    multiply_lists(lists, first, last, shape, left.data(), right.data(), out.data());
  });
}

template decltype(sum_rows<float>) sum_rows<float>;
template decltype(sum_rows<double>) sum_rows<double>;
template decltype(sum_rows<Float16>) sum_rows<Float16>;
template decltype(sum_rows<BFloat16>) sum_rows<BFloat16>;
template decltype(return_sums<float>) return_sums<float>;
template decltype(return_sums<double>) return_sums<double>;
template decltype(return_sums<Float16>) return_sums<Float16>;
template decltype(return_sums<BFloat16>) return_sums<BFloat16>;
template decltype(multiply_rows<float>) multiply_rows<float>;
template decltype(multiply_rows<double>) multiply_rows<double>;

}  // namespace graphmount
