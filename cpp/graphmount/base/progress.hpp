// Progress callback for long-running work.
#pragma once

#include <cstdint>
#include <functional>

namespace graphmount {

/// Told what is done and what there is to do in all (bytes, or steps), now and then and always from
/// the calling thread. What it throws ends the work. May be empty.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

}  // namespace graphmount
