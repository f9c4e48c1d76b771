// XXH64 with seed 0, the checksum of headers and chunks. Any xxHash library computes the same
// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace graphmount {

std::uint64_t xxh64(std::span<const std::byte> data);

}  // namespace graphmount
