// What copying rows from the mapping takes: how many are worth a thread, and what to fetch ahead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace graphmount {

/// Least rows that are worth handing to a thread.
inline std::size_t least_rows(std::uint64_t row_bytes) {
  constexpr std::uint64_t kLeastBytes = 1 << 16;
  return kLeastBytes / (row_bytes + 1) + 1;
}

/// Asks the processor for the first bytes of a row that will be copied soon; it fetches what
/// follows by itself.
inline void prefetch_row(const std::byte* row, std::uint64_t row_bytes) {
  constexpr std::uint64_t kLine = 64, kMost = 512;
  for (std::uint64_t at = 0; at < row_bytes && at < kMost; at += kLine)
    __builtin_prefetch(row + at);
}

}  // namespace graphmount
