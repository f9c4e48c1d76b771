// Walker's alias tables, one for each neighbor list: with them, picking a neighbor in proportion to
// its weight takes one random number and one look, whatever the length of the list.
//
// An entry packs a threshold (high 32 bits) and an alias (low 32 bits). To pick from a list of d
// entries, draw a place i below d and a 32-bit number r: take i if r < threshold, else the alias.
// A neighbor of weight 0 is never picked; a list without any positive weight is all kNoPick.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace graphmount {

inline constexpr std::uint64_t kNoPick = 0x00000000'FFFFFFFF;

constexpr std::uint64_t pack_alias(std::uint32_t threshold, std::uint32_t alias) {
  return std::uint64_t{threshold} << 32 | alias;
}
constexpr std::uint32_t alias_threshold(std::uint64_t entry) {
  return static_cast<std::uint32_t>(entry >> 32);
}
constexpr std::uint32_t alias_of(std::uint64_t entry) {
  return static_cast<std::uint32_t>(entry);
}

/// The pick of a draw that hit place `place`, which has this entry, and there one of 2^32 parts.
/// The result is beyond the list if the list has no positive weight (kNoPick) or the table is
/// damaged.
constexpr std::uint64_t pick_by_alias(std::uint64_t entry, std::uint64_t place,
                                      std::uint32_t part) {
  return part < alias_threshold(entry) ? place : alias_of(entry);
}

/// Reusable memory, so that building many tables allocates little.
struct AliasScratch {
  std::vector<double> share;
  std::vector<std::uint32_t> small, large;
};

/// Fills `table`, as long as `weights` (fewer than 2^32 - 1, all finite and not negative).
void build_alias(std::span<const float> weights, std::span<std::uint64_t> table,
                 AliasScratch& scratch);

}  // namespace graphmount
