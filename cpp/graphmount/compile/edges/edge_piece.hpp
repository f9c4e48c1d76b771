// A run of list entries in memory, as arrays of their parts: what spools keep and lists are made
// of. Ids take 4 bytes each while all of a run are below 2^32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graphmount/compile/edges/edge_source.hpp"

namespace graphmount {

struct NarrowPair {
  std::uint32_t owner, neighbor;
};
struct WidePair {
  std::uint64_t owner, neighbor;
};

/// Which parts entries have besides owner and neighbor.
struct EntryParts {
  bool rows = false;
  bool weights = false;
  bool times = false;
};

/// Pointers into memory owned by others; those of parts that entries do not have are null.
struct EdgePiece {
  std::size_t count = 0;
  const NarrowPair* narrow = nullptr;  // one of these two
  const WidePair* wide = nullptr;
  const std::uint32_t* narrow_rows = nullptr;  // counted from first_row
  const std::uint64_t* wide_rows = nullptr;
  std::uint64_t first_row = 0;
  const float* weights = nullptr;
  const std::int64_t* times = nullptr;

  std::uint64_t num_rows() const { return count; }
  std::uint64_t entries_per_row() const { return 1; }

  std::uint64_t row(std::size_t i) const {
    if (narrow_rows != nullptr) return first_row + narrow_rows[i];
    return wide_rows != nullptr ? wide_rows[i] : 0;
  }

  template <class Add>
  void for_each(std::size_t begin, std::size_t end, const Add& add) const {
    const auto run = [&](const auto* pairs) {
      for (std::size_t i = begin; i < end; ++i)
        add(ListEntry{pairs[i].owner, pairs[i].neighbor, row(i),
                      weights != nullptr ? weights[i] : 0.0F, times != nullptr ? times[i] : 0});
    };
    if (narrow != nullptr)
      run(narrow);
    else
      run(wide);
  }
};

}  // namespace graphmount
