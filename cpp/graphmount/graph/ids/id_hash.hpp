// Hashes of external ids. The tables in files are made with them (docs/format.md), so they are part
// of the format.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graphmount/base/checksum.hpp"

namespace graphmount {

/// A bijection that spreads numbers which differ little (one step of SplitMix64).
inline std::uint64_t hash_number(std::int64_t key) {
  auto x = static_cast<std::uint64_t>(key) + 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

inline std::uint64_t hash_name(std::string_view key) {
  return xxh64(std::as_bytes(std::span(key)));
}

}  // namespace graphmount
