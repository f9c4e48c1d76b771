// List entries for tests of what takes them from any source.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "graphmount/compile/edges/edge_piece.hpp"

namespace graphmount::testing {

using Entries = std::vector<ListEntry>;

/// Entries one by one, as a source.
struct EntrySource {
  std::span<const ListEntry> entries;

  std::uint64_t num_rows() const { return entries.size(); }
  std::uint64_t entries_per_row() const { return 1; }
  template <class Add>
  void for_each(std::size_t begin, std::size_t end, const Add& add) const {
    for (std::size_t i = begin; i < end; ++i) add(entries[i]);
  }
};

inline auto parts_of(const ListEntry& entry) {
  return std::tie(entry.owner, entry.neighbor, entry.row, entry.weight, entry.time);
}
inline bool are_equal(const Entries& a, const Entries& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return parts_of(x) == parts_of(y); });
}

inline void append_entries(const EdgePiece& piece, Entries& out) {
  piece.for_each(0, piece.count, [&](const ListEntry& entry) { out.push_back(entry); });
}

/// Without the parts that are not kept.
inline Entries with_parts(Entries entries, EntryParts parts) {
  for (ListEntry& entry : entries) {
    if (!parts.rows) entry.row = 0;
    if (!parts.weights) entry.weight = 0;
    if (!parts.times) entry.time = 0;
  }
  return entries;
}

/// Those of an owner stay in their order.
inline Entries sorted_by_owner(Entries entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.owner < b.owner; });
  return entries;
}

inline std::vector<EntryParts> all_parts() {
  std::vector<EntryParts> all;
  for (int bits = 0; bits < 8; ++bits)
    all.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
  return all;
}

}  // namespace graphmount::testing
