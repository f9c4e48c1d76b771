#include "graphmount/checksum.hpp"

#include <bit>
#include <cstring>

namespace graphmount {
namespace {

// The five primes of the XXH64 specification.
constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

template <class Word>
std::uint64_t load(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t mix_lane(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

std::uint64_t merge_lane(std::uint64_t hash, std::uint64_t lane) {
  return (hash ^ mix_lane(0, lane)) * kPrime1 + kPrime4;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> data) {
  const std::byte* at = data.data();
  std::size_t left = data.size();
  std::uint64_t hash = kPrime5;
  if (left >= 32) {
    std::uint64_t a = kPrime1 + kPrime2, b = kPrime2, c = 0, d = 0 - kPrime1;
    for (; left >= 32; at += 32, left -= 32) {
      a = mix_lane(a, load<std::uint64_t>(at));
      b = mix_lane(b, load<std::uint64_t>(at + 8));
      c = mix_lane(c, load<std::uint64_t>(at + 16));
      d = mix_lane(d, load<std::uint64_t>(at + 24));
    }
    hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    hash = merge_lane(merge_lane(merge_lane(merge_lane(hash, a), b), c), d);
  }
  hash += data.size();
  for (; left >= 8; at += 8, left -= 8)
    hash = std::rotl(hash ^ mix_lane(0, load<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (left >= 4) {
    hash = std::rotl(hash ^ load<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4, left -= 4;
  }
  for (; left > 0; ++at, --left)
    hash = std::rotl(hash ^ std::to_integer<std::uint64_t>(*at) * kPrime5, 11) * kPrime1;
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace graphmount
