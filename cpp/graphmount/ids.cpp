#include "graphmount/ids.hpp"

#include <algorithm>

#include "graphmount/error.hpp"

namespace graphmount {

void require_ids(std::span<const std::int64_t> ids, std::uint64_t count, const std::string& what) {
  // Negative ids are huge as unsigned ones, so one comparison does.
  const auto bad = std::find_if(ids.begin(), ids.end(), [&](std::int64_t id) {
    return static_cast<std::uint64_t>(id) >= count;
  });
  if (bad == ids.end()) return;
  const std::string range = count == 0
                                ? "there are no " + what + "s"
                                : what + "s are numbered from 0 to " + std::to_string(count - 1);
  throw IdError(what + " " + std::to_string(*bad) + " (at position " +
                std::to_string(bad - ids.begin()) + ") does not exist: " + range);
}

void refuse_changed_id(std::int64_t id, std::uint64_t count, const char* what) {
  throw IdError("the array of " + std::string(what) + "s was changed while it was in use: it has " +
                std::to_string(id) + " now, and there are " + std::to_string(count) +
                "; do not write to an array that another thread gives to a call, or give a copy");
}

}  // namespace graphmount
