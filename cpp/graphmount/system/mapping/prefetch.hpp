// Read-ahead for scattered pieces of a file: sorts and merges them so that pages are asked for
// once, in disk order, with few system calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount {

struct ByteRange {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Starts reading the pages of `ranges` and returns how many bytes they come to.
std::uint64_t prefetch_ranges(const MappedFile& file, std::vector<ByteRange> ranges);

/// Starts reading what someone else has mapped there, and returns at once. Harmless for memory that
/// is no mapping of a file.
void prefetch_memory(std::span<const std::byte> bytes);

}  // namespace graphmount
