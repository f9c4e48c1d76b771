// Which places the seeds of one process have in a batch that several processes share.
//
// Of w processes, process r has the places r, r + w, r + 2w and so on. What is drawn for a seed
// depends on its place in the whole batch, so processes draw apart from each other, and a batch is
// the same however many share it.
#pragma once

#include <cstdint>

namespace graphmount {

struct Places {
  std::uint64_t first = 0, step = 1;  // all places

  /// The place in the whole batch of what is at place `own` of this process.
  constexpr std::uint64_t of(std::uint64_t own) const { return first + step * own; }
};

}  // namespace graphmount
