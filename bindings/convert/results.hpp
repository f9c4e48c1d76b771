// Results as arrays: without a copy, in memory that goes back to the core with the last view.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>

#include "convert/arrays.hpp"
#include "graphmount/system/memory/result_memory.hpp"

namespace graphmount::bindings {

template <std::size_t kDimensions>
using ResultArray = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<kDimensions>>;

template <std::size_t kDimensions>
ResultArray<kDimensions> to_array(ResultBuffer result, std::initializer_list<std::size_t> shape) {
  const auto [owned, owner] = to_owned(std::move(result));
  return ResultArray<kDimensions>((*owned)->data(), shape, owner);
}

inline ResultArray<1> to_array(ResultBuffer result) {
  const std::size_t size = result->size();
  return to_array<1>(std::move(result), {size});
}

}  // namespace graphmount::bindings
