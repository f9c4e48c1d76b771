// Floats of 16 bits, for which C++ has no types: what they mean, and floats rounded to them.
//
// Without branches, so that compilers do several at once; right also where the processor was told
// to take tiny floats for zero.
#pragma once

#include <bit>
#include <cstdint>

namespace graphmount {

struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// What a number is summed in.
template <class Value>
struct SumTypeOf {
  using Type = Value;
};
template <>
struct SumTypeOf<Float16> {
  using Type = float;
};
template <>
struct SumTypeOf<BFloat16> {
  using Type = float;
};
template <class Value>
using SumType = typename SumTypeOf<Value>::Type;

inline __attribute__((always_inline)) float value_of(Float16 value) {
  constexpr std::uint32_t kRebias = std::uint32_t{127 - 15} << 23;
  constexpr std::uint32_t kInfinity = std::uint32_t{0x7C00} << 13;
  constexpr std::uint32_t kLeastNormal = std::uint32_t{0x0400} << 13;
  const std::uint32_t magnitude = (std::uint32_t{value.bits} & 0x7FFF) << 13;
  const std::uint32_t sign = (std::uint32_t{value.bits} & 0x8000) << 16;
  const std::uint32_t normal = magnitude + kRebias + (magnitude >= kInfinity ? kRebias : 0);
  // A subnormal is a fraction of 2^-14: put behind that number's leading one, which is taken away.
  const float with_one = std::bit_cast<float>(magnitude + kRebias + kLeastNormal);
  const auto subnormal = std::bit_cast<std::uint32_t>(with_one - 0x1p-14F);
  return std::bit_cast<float>(sign | (magnitude < kLeastNormal ? subnormal : normal));
}
inline __attribute__((always_inline)) float value_of(BFloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}
template <class Value>
inline __attribute__((always_inline)) Value value_of(Value value) {
  return value;
}

/// The nearest number of a type, of two equally near ones the even one.
template <class Value>
inline __attribute__((always_inline)) Value rounded_to(SumType<Value> value) {
  return value;
}
template <>
inline __attribute__((always_inline)) BFloat16 rounded_to<BFloat16>(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return {static_cast<std::uint16_t>(value != value ? (bits >> 16) | 0x40 : rounded)};
}
template <>
inline __attribute__((always_inline)) Float16 rounded_to<Float16>(float value) {
  constexpr std::uint32_t kLeastNormal = std::uint32_t{127 - 14} << 23;
  constexpr std::uint32_t kTooLarge = std::uint32_t{127 + 16} << 23;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  const std::uint32_t odd = (magnitude >> 13) & 1;
  const std::uint32_t normal = (magnitude - (std::uint32_t{127 - 15} << 23) + 0xFFF + odd) >> 13;
  // Next to one half, floats are as far apart as subnormals of 16 bits: the sum is rounded to them.
  const float beside_half = std::bit_cast<float>(magnitude < kLeastNormal ? magnitude : 0) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(beside_half) - 0x3F000000;
  const std::uint32_t finite = magnitude < kLeastNormal ? subnormal : normal;
  const std::uint32_t large = magnitude >= kTooLarge ? 0x7C00 : finite;
  return {static_cast<std::uint16_t>(sign | (value != value ? 0x7E00 : large))};
}

}  // namespace graphmount
