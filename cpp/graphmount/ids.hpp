// The check that every call with ids makes before it follows them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace graphmount {

/// Throws IdError, naming the first bad entry, unless all ids are in [0, count). `what` is the word
/// for one id: "node" or "row".
void require_ids(std::span<const std::int64_t> ids, std::uint64_t count, const std::string& what);

}  // namespace graphmount
