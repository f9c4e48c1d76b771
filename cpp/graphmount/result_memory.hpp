// Memory for results whose size is known before they are: one message where there is not enough.
#pragma once

#include <cstdint>
#include <string>

#include "graphmount/buffer.hpp"

namespace graphmount {

/// Memory for `rows` times `columns` int64, not cleared. Throws BudgetError, which says how much
/// was asked for; `what` names the rows.
Buffer<std::int64_t> allocate_result(std::uint64_t rows, std::uint64_t columns,
                                     const std::string& what);

}  // namespace graphmount
