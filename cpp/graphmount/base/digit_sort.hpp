// Sorting by counting: one pass of a radix sort, or all of a sort by few values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "graphmount/base/interrupt.hpp"

namespace graphmount {

// Functions are taken by value, with what they capture by value. Otherwise the compiler must assume
// that each store may change what they read, and compiling a graph takes a tenth longer.

/// Fills `begins` for items whose digits digit_at(i) are below `num_digits`: begins[d] is how many
/// have a digit before d, and begins[num_digits] is the count.
template <class Place, class DigitAt>
void count_digits(std::size_t count, std::size_t num_digits, std::vector<Place>& begins,
                  const DigitAt& digit_at) {
  begins.assign(num_digits + 1, 0);
  interruptible_for(
      count, [digit_at, counts = begins.data() + 1](std::size_t i) { ++counts[digit_at(i)]; });
  for (std::size_t digit = 0; digit < num_digits; ++digit) begins[digit + 1] += begins[digit];
}

/// Also calls move(i, place) for each of the items in their order: they are sorted by their digits
/// then, and those with the same digit keep their order.
template <class Place, class DigitAt, class Move>
void sort_by_digit(std::size_t count, std::size_t num_digits, std::vector<Place>& begins,
                   const DigitAt& digit_at, const Move& move) {
  count_digits(count, num_digits, begins, digit_at);
  interruptible_for(count, [digit_at, move, places = begins.data()](std::size_t i) {
    move(i, places[digit_at(i)]++);
  });
  // Each begin has moved on to the next one's.
  std::copy_backward(begins.begin(), begins.end() - 1, begins.end());
  begins[0] = 0;
}

}  // namespace graphmount
