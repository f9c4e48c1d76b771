// How loops ask the processor for scattered memory that they will read soon.
//
// Into the cache of the second level: more lines can be on their way there than to the first, whose
// few places for misses are what else limits a loop of scattered reads. docs/design/base.md has the
// figures.
#pragma once

#include <cstddef>

namespace graphmount {

inline constexpr std::size_t kLineBytes = 64;

/// How many lines a loop should have on their way: more gain nothing.
inline constexpr std::size_t kFetchedLines = 128;

/// Asks for the line that an address is in. Does nothing at addresses that are not there.
inline void fetch_line(const void* address) {
  __builtin_prefetch(address, 0, 2);
}

}  // namespace graphmount
