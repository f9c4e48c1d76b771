#include "graphmount/base/ids.hpp"

#include <algorithm>

#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"

namespace graphmount {

// The sign of `id | (count - 1 - id)` says of each id whether it is in range, and nothing in the
// loop depends on it: the compiler takes several at a time. What it finds for a count of 2^63 or
// more, which no file has, `require_ids` looks at again.
bool are_in_range(std::span<const std::int64_t> ids, std::uint64_t count) {
  std::uint64_t seen = 0;
  for (const std::int64_t id : ids) {
    const auto number = static_cast<std::uint64_t>(id);
    seen |= number | (count - 1 - number);
  }
  return seen >> 63 == 0;
}

void require_ids(std::span<const std::int64_t> ids, std::uint64_t count, const std::string& what) {
  if (are_in_range(ids, count)) return;
  // Negative ids are huge as unsigned ones, so one comparison does.
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  auto bad = ids.begin();
  for (std::size_t first = 0; first < ids.size(); first += kAtOnce) {
    check_interrupt();
    const auto some = ids.subspan(first, std::min(kAtOnce, ids.size() - first));
    bad = std::find_if(some.begin(), some.end(),
                       [&](std::int64_t id) { return static_cast<std::uint64_t>(id) >= count; });
    if (bad != some.end()) break;
  }
  if (bad == ids.end()) return;
  const std::string range =
      count == 0 ? "there are no " + what + "s" : say(what, "s are numbered from 0 to ", count - 1);
  throw IdError(
      say(what, " ", *bad, " (at position ", bad - ids.begin(), ") does not exist: ", range));
}

void refuse_id(std::span<const std::int64_t> ids, std::int64_t id, std::uint64_t count,
               const char* what) {
  require_ids(ids, count, what);
  throw IdError(
      say("the array of ", what, "s was changed while it was in use: it has ", id,
          " now, and there are ", count,
          "; do not write to an array that another thread gives to a call, or give a copy"));
}

}  // namespace graphmount
