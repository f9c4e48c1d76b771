// XXH64 with seed 0, the checksum of headers and chunks. Any xxHash library computes the same
// value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace graphmount {

std::uint64_t xxh64(std::span<const std::byte> data);

/// The same of data that comes piece by piece.
class Xxh64 {
 public:
  static constexpr std::size_t kStripeBytes = 32;

  Xxh64();
  void add(std::span<const std::byte> data);
  /// Of all that was added so far.
  std::uint64_t hash() const;

 private:
  std::array<std::uint64_t, 4> lanes_;
  std::array<std::byte, kStripeBytes> held_{};  // the last bytes, which are no whole stripe
  std::uint64_t size_ = 0;
};

}  // namespace graphmount
