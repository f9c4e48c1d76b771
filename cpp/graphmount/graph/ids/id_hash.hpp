// Hashes of external ids. The tables in files are made with them (docs/format.md), so they are part
// of the format.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/random.hpp"

namespace graphmount {

/// A bijection that spreads numbers which differ little (one step of SplitMix64).
inline std::uint64_t hash_number(std::int64_t key) {
  return mix_bits(static_cast<std::uint64_t>(key) + kSplitMixStep);
}

inline std::uint64_t hash_name(std::string_view key) {
  return xxh64(std::as_bytes(std::span(key)));
}

}  // namespace graphmount
