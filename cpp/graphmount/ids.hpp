// The checks that every call with ids makes before it follows them.
//
// Ids that come from a caller may change while a call runs, if another thread of the caller writes
// to the array. So what is checked must be what is followed: a call either copies the ids and
// checks the copy, or takes each with `read_id` when it is needed, after `require_ids` has found
// the whole array to be good, which gives the message that most users need.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "graphmount/read_once.hpp"

namespace graphmount {

/// Throws IdError, naming the first bad entry, unless all ids are in [0, count). `what` is the word
/// for one id: "node" or "row".
void require_ids(std::span<const std::int64_t> ids, std::uint64_t count, const std::string& what);

/// Throws the IdError for an id that was good when the call began.
[[noreturn]] void refuse_changed_id(std::int64_t id, std::uint64_t count, const char* what);

/// The id at a place that passed `require_ids`, read once and checked again. Throws IdError.
inline std::int64_t read_id(std::span<const std::int64_t> ids, std::size_t place,
                            std::uint64_t count, const char* what) {
  const std::int64_t id = read_once(ids.data() + place);
  if (static_cast<std::uint64_t>(id) >= count) [[unlikely]]
    refuse_changed_id(id, count, what);
  return id;
}

}  // namespace graphmount
