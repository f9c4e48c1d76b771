// Softmax over the entries of each list, head by head: the weights of attention.
#pragma once

#include <span>

#include "graphmount/training/edge_lists.hpp"

namespace graphmount {

/// `scores` and `out` have a number for each entry and head. The weights of a list add up to 1.
template <class Real>
void softmax_entries(const EdgeLists& lists, std::size_t heads, std::span<const Real> scores,
                     std::span<Real> out);

/// The gradient of the scores, by that of the weights.
template <class Real>
void softmax_gradient(const EdgeLists& lists, std::size_t heads, std::span<const Real> weights,
                      std::span<const Real> gradient, std::span<Real> out);

}  // namespace graphmount
