// Sums along edges: what layers of a model do with the rows of neighbors, and on the way back.
//
// Rows have `heads` parts of `width` columns; with one head they are plain rows. Everything is
// summed in the order of the entries, in float or double, so that results are the same for any
// number of threads.
#pragma once

#include <span>

#include "graphmount/training/edge_lists.hpp"

namespace graphmount {

/// How rows are divided.
struct RowShape {
  std::size_t heads = 1, width = 0;

  std::size_t columns() const { return heads * width; }
};

/// For each list, the sum of its rows of `rows`, or their mean; zeros for none. Each is multiplied
/// by a factor for its entry and head, if there are `factors`. Throws as EdgeLists does, and
/// std::invalid_argument if a size does not fit.
template <class Real>
void sum_rows(const EdgeLists& lists, RowShape shape, std::span<const Real> rows,
              std::span<const Real> factors, bool is_mean, std::span<Real> out);

/// For each entry and head, the product of its list's part of `left` and its row's part of `right`.
template <class Real>
void multiply_rows(const EdgeLists& lists, RowShape shape, std::span<const Real> left,
                   std::span<const Real> right, std::span<Real> out);

}  // namespace graphmount
