#include "graphmount/training/edge_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/team.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kLeastLists = 256;

template <class Real>
void require_entries(const EdgeLists& lists, std::size_t heads, std::span<const Real> values) {
  if (values.size() != lists.num_entries() * heads)
    throw std::invalid_argument("there must be a number for each entry and head");
}

/// Calls body(range, head) for each list and head.
template <class Body>
void for_each_list(const EdgeLists& lists, std::size_t heads, const Body& body) {
  team_for(lists.size(), balanced_grain(lists.size(), kLeastLists),
           [&](std::size_t first, std::size_t last) {
             for (std::size_t list = first; list < last; ++list) {
               const EdgeLists::Range range = lists.range(list);
               for (std::size_t head = 0; head < heads; ++head) body(range, head);
             }
           });
}

}  // namespace

template <class Real>
void softmax_entries(const EdgeLists& lists, std::size_t heads, std::span<const Real> scores,
                     std::span<Real> out) {
  require_entries(lists, heads, scores);
  require_entries<Real>(lists, heads, out);
  for_each_list(lists, heads, [&](EdgeLists::Range range, std::size_t head) {
    Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (std::size_t place = range.begin; place < range.end; ++place)
      largest = std::max(largest, scores[place * heads + head]);
    for (std::size_t place = range.begin; place < range.end; ++place)
      sum += out[place * heads + head] = std::exp(scores[place * heads + head] - largest);
    for (std::size_t place = range.begin; place < range.end; ++place)
      out[place * heads + head] /= sum;
  });
}

template <class Real>
void softmax_gradient(const EdgeLists& lists, std::size_t heads, std::span<const Real> weights,
                      std::span<const Real> gradient, std::span<Real> out) {
  require_entries(lists, heads, weights);
  require_entries(lists, heads, gradient);
  require_entries<Real>(lists, heads, out);
  for_each_list(lists, heads, [&](EdgeLists::Range range, std::size_t head) {
    Real sum = 0;
    for (std::size_t place = range.begin; place < range.end; ++place)
      sum += weights[place * heads + head] * gradient[place * heads + head];
    for (std::size_t place = range.begin; place < range.end; ++place)
      out[place * heads + head] =
          weights[place * heads + head] * (gradient[place * heads + head] - sum);
  });
}

template decltype(softmax_entries<float>) softmax_entries<float>;
template decltype(softmax_entries<double>) softmax_entries<double>;
template decltype(softmax_gradient<float>) softmax_gradient<float>;
template decltype(softmax_gradient<double>) softmax_gradient<double>;

}  // namespace graphmount
