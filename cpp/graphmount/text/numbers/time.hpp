// Dates and times as in ISO 8601, to seconds since 1970.
//
// 2024-02-29, 2024-02-29T12:30, 2024-02-29 12:30:59.25, with Z or an offset such as +02:00 behind
// the time or not; without one the time is UTC. Parts of a second are cut off (towards the past).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace graphmount {

/// The seconds since 1970 that `text` stands for; nothing if it is no date or time.
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace graphmount
