// The largest value along edges, column by column, and the way back of its gradient.
#pragma once

#include <cstdint>
#include <span>

#include "graphmount/base/half_floats.hpp"
#include "graphmount/training/edge_lists.hpp"

namespace graphmount {

/// For each list and column, the largest value of its rows of `rows`, and in `winners` the place of
/// the entry that it is from: the first of equal ones. For no entries, 0 and -1. A NaN is larger
/// than any number. Throws BudgetError for more than 2^31 entries.
template <class Value>
void largest_rows(const EdgeLists& lists, std::size_t columns, std::span<const Value> rows,
                  std::span<Value> out, std::span<std::int32_t> winners);

/// The gradient of `rows` by that of the largest values: each goes to its winner. `turned` are the
/// lists turned round, and `places` the places of its entries, as `turn_round` makes both. To the
/// first rows, those of `of_first` are added. Of 16 bits, sums are made in float, and rounded once.
template <class Value>
void return_to_winners(const EdgeLists& turned, std::span<const std::int64_t> places,
                       std::size_t columns, std::span<const Value> gradient,
                       std::span<const std::int32_t> winners, std::span<const Value> of_first,
                       std::span<Value> out);

}  // namespace graphmount
