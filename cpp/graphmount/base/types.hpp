// Types that all other files share: ids and their spaces, element types, directions, and arithmetic
// on sizes that notices overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace graphmount {

using NodeId = std::int64_t;
using EdgeId = std::int64_t;

/// What ids number: the nodes of a type, or the edges of a relation. Each space has ids of its own
/// from 0 on, and a table has a row for each id of one space.
struct IdSpace {
  enum class Kind { kNodes, kEdges };

  Kind kind = Kind::kNodes;
  std::size_t number = 0;  // of the type or relation

  // Where there is one type and one relation.
  static const IdSpace kNodes, kEdges;

  bool operator==(const IdSpace&) const = default;
};

inline constexpr IdSpace IdSpace::kNodes{Kind::kNodes, 0}, IdSpace::kEdges{Kind::kEdges, 0};

constexpr std::string_view name_of(IdSpace space) {
  return space.kind == IdSpace::Kind::kEdges ? "edges" : "nodes";
}

/// Element type of a section. The numbers are part of the file format (docs/format.md).
enum class DType : std::uint16_t {
  kFloat32 = 1,
  kFloat64 = 2,
  kFloat16 = 3,
  kBFloat16 = 4,
  kInt8 = 5,
  kInt16 = 6,
  kInt32 = 7,
  kInt64 = 8,
  kUInt8 = 9,
  kBool = 10,
};

struct DTypeTraits {
  DType dtype;
  std::string_view name;
  std::uint64_t item_bytes;
};

inline constexpr DTypeTraits kDTypes[] = {
    {DType::kFloat32, "float32", 4}, {DType::kFloat64, "float64", 8},
    {DType::kFloat16, "float16", 2}, {DType::kBFloat16, "bfloat16", 2},
    {DType::kInt8, "int8", 1},       {DType::kInt16, "int16", 2},
    {DType::kInt32, "int32", 4},     {DType::kInt64, "int64", 8},
    {DType::kUInt8, "uint8", 1},     {DType::kBool, "bool", 1},
};

/// The traits of a dtype number as found in a file; nullptr if there is no such dtype.
constexpr const DTypeTraits* find_dtype(std::uint16_t number) {
  for (const DTypeTraits& traits : kDTypes)
    if (static_cast<std::uint16_t>(traits.dtype) == number) return &traits;
  return nullptr;
}

constexpr const DTypeTraits& traits_of(DType dtype) {
  return *find_dtype(static_cast<std::uint16_t>(dtype));
}

/// Which neighbors a list holds. "In" lists hold the sources of a node's incoming edges.
enum class Direction : std::uint16_t { kNone = 0, kIn = 1, kOut = 2 };

constexpr std::string_view direction_name(Direction direction) {
  return direction == Direction::kIn ? "in" : direction == Direction::kOut ? "out" : "none";
}

/// a * b, or nothing where that does not fit into 64 bits.
constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  if (a != 0 && b > UINT64_MAX / a) return std::nullopt;
  return a * b;
}

/// a + b, or nothing where that does not fit into 64 bits.
constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  if (b > UINT64_MAX - a) return std::nullopt;
  return a + b;
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace graphmount
