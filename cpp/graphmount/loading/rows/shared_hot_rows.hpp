// Hot rows in memory that several processes have together: one of them reads the rows and seals
// them, the others take them over.
//
// The memory has the rows one after the other. If they are not the first of the file, their ids
// follow, from the next multiple of 8 on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "graphmount/system/memory/sealed_memory.hpp"

namespace graphmount {

struct SharedHotRows {
  std::shared_ptr<const SealedMemory> memory;
  std::uint64_t count = 0;
  bool is_first = true;  // of the file

  /// Where the ids begin, if there are any.
  static std::size_t ids_at(std::uint64_t count, std::size_t row_bytes) {
    return (static_cast<std::size_t>(count) * row_bytes + 7) / 8 * 8;
  }
  static std::size_t bytes_for(std::uint64_t count, std::size_t row_bytes, bool is_first) {
    const std::size_t rows_end = ids_at(count, row_bytes);
    return rows_end + (is_first ? 0 : static_cast<std::size_t>(count) * sizeof(std::int64_t));
  }

  /// The ids of rows that are not the first.
  std::vector<std::int64_t> ids(std::size_t row_bytes) const {
    std::vector<std::int64_t> found(static_cast<std::size_t>(count));
    if (!found.empty())
      std::memcpy(found.data(), memory->bytes().data() + ids_at(count, row_bytes),
                  found.size() * sizeof(std::int64_t));
    return found;
  }
};

}  // namespace graphmount
