// Integers of a section, 32 or 64 bits wide, read as int64. Values may be damaged; code that
// follows one must check it.
#pragma once

#include <cstdint>

#include "graphmount/base/read_once.hpp"
#include "graphmount/format/mount.hpp"

namespace graphmount {

/// Valid as long as the mount is, and to be read within `read_guarded`. Empty if there is no
/// section.
struct IntegerColumn {
  IntegerColumn() = default;
  IntegerColumn(const Mount& mount, const Section* section) {
    if (section == nullptr) return;
    if (section->dtype == DType::kInt32)
      narrow = mount.data<std::int32_t>(*section);
    else
      wide = mount.data<std::int64_t>(*section);
  }

  explicit operator bool() const { return narrow != nullptr || wide != nullptr; }
  std::int64_t operator[](std::uint64_t item) const {
    return narrow != nullptr ? read_once(narrow + item) : read_once(wide + item);
  }

  const std::int32_t* narrow = nullptr;
  const std::int64_t* wide = nullptr;
};

}  // namespace graphmount
