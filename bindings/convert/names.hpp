// Strings across the border, in columns: one array of offsets, one of UTF-8.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "convert/arrays.hpp"
#include "graphmount/graph/ids/external_ids.hpp"

namespace graphmount::bindings {

/// Strings of a caller, with offsets of their own: those of the caller might change, and a string
/// end beyond the bytes, after they were found to be good.
struct CallerNames {
  std::vector<std::int64_t> offsets;
  std::span<const char> bytes;

  NameColumn column() const { return {offsets, bytes}; }
  std::size_t size() const { return offsets.size() - 1; }
};

/// Throws std::invalid_argument unless the offsets are in order and within the bytes.
inline CallerNames to_names(const Column<std::int64_t>& offsets,
                            const Column<std::uint8_t>& bytes) {
  std::vector<std::int64_t> places(offsets.data(), offsets.data() + offsets.size());
  bool is_fine = !places.empty() && places.front() >= 0 &&
                 static_cast<std::size_t>(places.back()) <= bytes.size();
  for (std::size_t i = 1; i < places.size(); ++i) is_fine &= places[i - 1] <= places[i];
  if (!is_fine) throw std::invalid_argument("the offsets of the strings are not in order");
  return {std::move(places), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

}  // namespace graphmount::bindings
