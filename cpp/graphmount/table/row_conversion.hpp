// Rows of one dtype turned into rows of another while they are copied.
//
// Only conversions that mean something for any value are offered: everything to float32 and float64
// (rounded to nearest), and integers to wider ones. int8 rows with scales become floats by their
// scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "graphmount/base/types.hpp"

namespace graphmount {

class RowConversion {
 public:
  /// `scales` has one for each column of a quantized matrix, and is nullptr for others; it must
  /// live as long. Throws std::invalid_argument if there is no such conversion.
  RowConversion(DType from, DType to, std::uint64_t columns, const float* scales);

  /// Whether rows stay what they are.
  bool is_copy() const { return convert_ == nullptr; }
  std::uint64_t out_bytes() const { return out_bytes_; }

  /// Both aligned for their dtypes.
  void convert(const std::byte* row, std::byte* out) const;

 private:
  using Convert = void (*)(const std::byte* row, std::byte* out, std::uint64_t columns,
                           const float* scales);

  Convert convert_ = nullptr;
  std::uint64_t columns_;
  std::uint64_t out_bytes_;
  const float* scales_;
};

}  // namespace graphmount
