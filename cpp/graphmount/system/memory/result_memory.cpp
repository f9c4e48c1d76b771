#include "graphmount/system/memory/result_memory.hpp"

#include <algorithm>
#include <new>

#include "graphmount/base/error.hpp"
#include "graphmount/base/types.hpp"

namespace graphmount {

ResultBuffer allocate_result(std::uint64_t rows, std::uint64_t columns, const std::string& what) {
  // Arrays have no room for rows of such a length even if there are none of them.
  const auto entries = checked_multiply(std::max<std::uint64_t>(rows, 1), columns);
  const bool fits = entries && *entries <= INT64_MAX / sizeof(std::int64_t);
  if (fits) {
    try {
      ResultBuffer result;
      result->resize(static_cast<std::size_t>(rows * columns));
      return result;
    } catch (const std::bad_alloc&) {  // said below, with the size
    }
  }
  throw BudgetError(
      say(rows, " ", what, " take ",
          (fits ? std::to_string(*entries * sizeof(std::int64_t)) : "more than 2^63"),
          " bytes of memory, which the system does not give; ask for fewer at a time"));
}

}  // namespace graphmount
