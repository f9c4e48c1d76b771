// A run of list entries in memory, as arrays of their parts: what spools keep and lists are made
// of. Ids take 4 bytes each while all of a run are below 2^32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

/// Something for each part that entries may have.
struct EntryPart {
  enum Number : std::size_t { kPairs, kRows, kWeights, kTimes, kCount };
};
template <class Item>
using ForParts = std::array<Item, EntryPart::kCount>;

/// Pointers into memory owned by others.
struct EdgePiece {
  std::size_t count = 0;
  std::uint64_t first_row = 0;         // rows of 4 bytes are counted from it
  ForParts<const std::byte*> data{};   // null for parts that entries do not have
  ForParts<std::size_t> item_bytes{};  // pairs are narrow or wide, rows of 4 or 8 bytes

  std::uint64_t num_rows() const { return count; }
  std::uint64_t entries_per_row() const { return 1; }

  template <class Add>
  void for_each(std::size_t begin, std::size_t end, const Add& add) const {
    const auto* const weights = items<float>(EntryPart::kWeights);
    const auto* const times = items<std::int64_t>(EntryPart::kTimes);
    const auto run = [&](const auto* pairs) {
      for (std::size_t i = begin; i < end; ++i)
        add(ListEntry{pairs[i].owner, pairs[i].neighbor, row(i),
                      weights != nullptr ? weights[i] : 0.0F, times != nullptr ? times[i] : 0});
    };
    if (item_bytes[EntryPart::kPairs] == sizeof(NarrowPair))
      run(items<NarrowPair>(EntryPart::kPairs));
    else
      run(items<WidePair>(EntryPart::kPairs));
  }

  /// Copies one part of entries, as items of so many bytes: no fewer than its own, and for rows
  /// enough that none need be counted from `first_row`.
  void copy(std::size_t part, std::size_t begin, std::size_t some, std::size_t out_bytes,
            std::byte* out) const {
    if (some == 0) return;  // memory for nothing may be null, which memcpy does not take
    if (part == EntryPart::kRows && out_bytes == sizeof(std::uint32_t)) {
      for (std::size_t i = 0; i < some; ++i)
        reinterpret_cast<std::uint32_t*>(out)[i] = static_cast<std::uint32_t>(row(begin + i));
    } else if (part == EntryPart::kRows) {
      for (std::size_t i = 0; i < some; ++i)
        reinterpret_cast<std::uint64_t*>(out)[i] = row(begin + i);
    } else if (item_bytes[part] == out_bytes) {
      std::memcpy(out, data[part] + begin * out_bytes, some * out_bytes);
    } else {
      const auto* const from = items<NarrowPair>(EntryPart::kPairs) + begin;
      for (std::size_t i = 0; i < some; ++i)
        reinterpret_cast<WidePair*>(out)[i] = {from[i].owner, from[i].neighbor};
    }
  }

 private:
  template <class Item>
  const Item* items(std::size_t part) const {
    return reinterpret_cast<const Item*>(data[part]);
  }
  std::uint64_t row(std::size_t i) const {
    if (data[EntryPart::kRows] == nullptr) return 0;
    return item_bytes[EntryPart::kRows] == sizeof(std::uint32_t)
               ? first_row + items<std::uint32_t>(EntryPart::kRows)[i]
               : items<std::uint64_t>(EntryPart::kRows)[i];
  }
};

}  // namespace graphmount
