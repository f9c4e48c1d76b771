#include "graphmount/result_memory.hpp"

#include <new>

#include "graphmount/error.hpp"
#include "graphmount/types.hpp"

namespace graphmount {

Buffer<std::int64_t> allocate_result(std::uint64_t rows, std::uint64_t columns,
                                     const std::string& what) {
  const auto entries = checked_multiply(rows, columns);
  const bool fits = entries && *entries <= INT64_MAX / sizeof(std::int64_t);
  if (fits) {
    try {
      return Buffer<std::int64_t>(static_cast<std::size_t>(*entries));
    } catch (const std::bad_alloc&) {  // said below, with the size
    }
  }
  throw BudgetError(std::to_string(rows) + " " + what + " take " +
                    (fits ? std::to_string(*entries * sizeof(std::int64_t)) : "more than 2^63") +
                    " bytes of memory, which the system does not give; ask for fewer at a time");
}

}  // namespace graphmount
