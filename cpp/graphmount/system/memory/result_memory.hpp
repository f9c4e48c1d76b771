// Memory for results, which calls return as arrays. It is used again when the last view of the
// array is gone. If there is not enough memory, one message says how much was needed.
#pragma once

#include <cstdint>
#include <string>

#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/memory/recycler.hpp"

namespace graphmount {

using ResultBuffer = Recycled<Buffer<std::int64_t>>;

/// Memory for `rows` times `columns` int64, not cleared. Throws BudgetError, which says how much
/// was asked for; `what` names the rows.
ResultBuffer allocate_result(std::uint64_t rows, std::uint64_t columns, const std::string& what);

}  // namespace graphmount
