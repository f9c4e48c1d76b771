// Random numbers that are a function of a key: nothing is drawn from a state that threads share.
//
// A key is made from everything that distinguishes one use of randomness from another (a seed, a
// batch, a hop, a position), part by part. A key gives a sequence of draws, or further keys. So a
// result depends only on its own key, not on threads, their number, or earlier draws.
#pragma once

#include <cstdint>
#include <span>

namespace graphmount {

/// How far the state of SplitMix64 moves from one number to the next.
inline constexpr std::uint64_t kSplitMixStep = 0x9E3779B97F4A7C15;

/// Spreads every bit of `bits` over all 64: a bijection (Stafford's 13th variant of MurmurHash3's).
constexpr std::uint64_t mix_bits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

class RandomKey {
 public:
  /// The key that has these bits: for keys that were handed out.
  constexpr explicit RandomKey(std::uint64_t bits) : bits_(bits) {}

  /// The key of a part of what this one is the key of.
  constexpr RandomKey with(std::uint64_t part) const {
    return RandomKey(mix_bits(bits_ ^ ((part + 1) * 0xD1342543DE82EF95)));
  }

  constexpr std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_;
};

/// The key of a seed of any number of parts, such as (seed, epoch, batch).
constexpr RandomKey make_key(std::span<const std::uint64_t> parts) {
  RandomKey key(mix_bits(parts.size()));
  for (const std::uint64_t part : parts) key = key.with(part);
  return key;
}

/// A number below `count`, by 64 random bits. Some numbers are more likely than others by one part
/// in 2^64 / count, which no test can see.
constexpr std::uint64_t scale_bits(std::uint64_t bits, std::uint64_t count) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) * count >> 64);
}

/// A number in [0, 1), by 64 random bits, of which it takes 53.
constexpr double to_unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// The sequence of draws of a key.
class Draws {
 public:
  constexpr explicit Draws(RandomKey key) : state_(key.bits()) {}

  constexpr std::uint64_t bits() { return mix_bits(state_ += kSplitMixStep); }
  constexpr std::uint64_t below(std::uint64_t count) { return scale_bits(bits(), count); }
  constexpr double unit() { return to_unit(bits()); }

 private:
  std::uint64_t state_;
};

}  // namespace graphmount
