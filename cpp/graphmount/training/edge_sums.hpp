// Sums along edges: what layers of a model do with the rows of neighbors, and on the way back.
//
// Rows have `heads` parts of `width` columns; with one head they are plain rows. Everything is
// summed in the order of the entries, in float or double, so that results are the same for any
// number of threads.
#pragma once

#include <span>

#include "graphmount/base/half_floats.hpp"
#include "graphmount/training/edge_lists.hpp"

namespace graphmount {

/// How rows are divided.
struct RowShape {
  std::size_t heads = 1, width = 0;

  std::size_t columns() const { return heads * width; }
};

/// For each list, the sum of its rows of `rows`, or their mean; zeros for none. Each is multiplied
/// by a factor for its entry and head, if there are `factors`. Throws as EdgeLists does, and
/// std::invalid_argument if a size does not fit. Rows may also be of 16 bits: they are summed in
/// float, and the sum is rounded once.
template <class Value>
void sum_rows(const EdgeLists& lists, RowShape shape, std::span<const Value> rows,
              std::span<const SumType<Value>> factors, bool is_mean, std::span<Value> out);

/// The gradient of rows, by that of their sums. `turned` are the lists turned round, `factors`
/// those of their entries, and `starts` those of the lists before if they were means, else empty.
/// To the first rows, those of `of_first` are added: the gradient of what was made of these rows
/// alone.
template <class Value>
void return_sums(const EdgeLists& turned, RowShape shape, std::span<const Value> gradient,
                 std::span<const SumType<Value>> factors, std::span<const std::int64_t> starts,
                 std::span<const Value> of_first, std::span<Value> out);

/// For each entry and head, the product of its list's part of `left` and its row's part of `right`.
template <class Real>
void multiply_rows(const EdgeLists& lists, RowShape shape, std::span<const Real> left,
                   std::span<const Real> right, std::span<Real> out);

}  // namespace graphmount
