#include "graphmount/base/checksum.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace graphmount {
namespace {

constexpr std::size_t kStripeBytes = Xxh64::kStripeBytes;

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

// Whole stripes of 32 bytes go into the lanes; returns what is left of the data.
std::span<const std::byte> mix_stripes(std::array<std::uint64_t, 4>& lanes,
                                       std::span<const std::byte> data) {
  auto [a, b, c, d] = lanes;
  const std::byte* at = data.data();
  std::size_t left = data.size();
  for (; left >= kStripeBytes; at += kStripeBytes, left -= kStripeBytes) {
    a = mix_lane(a, load<std::uint64_t>(at));
    b = mix_lane(b, load<std::uint64_t>(at + 8));
    c = mix_lane(c, load<std::uint64_t>(at + 16));
    d = mix_lane(d, load<std::uint64_t>(at + 24));
  }
  lanes = {a, b, c, d};
  return {at, left};
}

std::uint64_t merge_lanes(const std::array<std::uint64_t, 4>& lanes) {
  const auto [a, b, c, d] = lanes;
  const std::uint64_t hash =
      std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  return merge_lane(merge_lane(merge_lane(merge_lane(hash, a), b), c), d);
}

// The last bytes, less than a stripe.
std::uint64_t mix_rest(std::uint64_t hash, std::span<const std::byte> rest) {
  const std::byte* at = rest.data();
  std::size_t left = rest.size();
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

constexpr std::array<std::uint64_t, 4> kFirstLanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> data) {
  const std::uint64_t size = data.size();
  std::uint64_t hash = kPrime5;
  if (size >= kStripeBytes) {
    auto lanes = kFirstLanes;
    data = mix_stripes(lanes, data);
    hash = merge_lanes(lanes);
  }
  return mix_rest(hash + size, data);
}

Xxh64::Xxh64() : lanes_(kFirstLanes) {}

void Xxh64::add(std::span<const std::byte> data) {
  const std::size_t held = size_ % kStripeBytes;
  size_ += data.size();
  if (held > 0) {
    const auto head = data.first(std::min(kStripeBytes - held, data.size()));
    std::copy(head.begin(), head.end(), held_.begin() + static_cast<std::ptrdiff_t>(held));
    data = data.subspan(head.size());
    if (held + head.size() < kStripeBytes) return;
    mix_stripes(lanes_, held_);
  }
  const auto rest = mix_stripes(lanes_, data);
  std::copy(rest.begin(), rest.end(), held_.begin());
}

std::uint64_t Xxh64::hash() const {
  const std::uint64_t hash = size_ >= kStripeBytes ? merge_lanes(lanes_) : kPrime5;
  return mix_rest(hash + size_, std::span(held_).first(size_ % kStripeBytes));
}

}  // namespace graphmount
