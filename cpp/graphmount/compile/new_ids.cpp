#include "graphmount/compile/new_ids.hpp"

#include <stdexcept>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"

namespace graphmount {

void NewIds::require_renumbering(std::uint64_t count) const {
  if (size() != count)
    throw std::invalid_argument(
        say("there are ", count, " nodes and ", size(), " new ids for them"));
  std::vector<bool> is_taken(count);
  interruptible_for(count, [&](std::size_t node) {
    const std::uint64_t id = read(node);
    if (id >= count || is_taken[id])
      throw std::invalid_argument(say("new id ", static_cast<std::int64_t>(id),
                                      " is given twice, or is not below the number of nodes"));
    is_taken[id] = true;
  });
}

}  // namespace graphmount
