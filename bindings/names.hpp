// Strings across the border, in columns: one array of offsets, one of UTF-8.
#pragma once

#include <stdexcept>

#include "arrays.hpp"
#include "graphmount/external_ids.hpp"

namespace graphmount::bindings {

/// Throws std::invalid_argument unless the offsets are in order and within the bytes.
inline NameColumn to_names(const Column<std::int64_t>& offsets, const Column<std::uint8_t>& bytes) {
  const auto places = to_span(offsets);
  bool is_fine = !places.empty() && places.front() >= 0 &&
                 static_cast<std::size_t>(places.back()) <= bytes.size();
  for (std::size_t i = 1; i < places.size(); ++i) is_fine &= places[i - 1] <= places[i];
  if (!is_fine) throw std::invalid_argument("the offsets of the strings are not in order");
  return {places, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

}  // namespace graphmount::bindings
