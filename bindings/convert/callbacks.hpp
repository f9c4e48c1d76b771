// Progress reports on their way to Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "gil.hpp"
#include "graphmount/base/progress.hpp"

namespace graphmount::bindings {

/// Calls `callback` with the GIL held, and lets Ctrl-C through even where there is none.
inline Progress to_progress(const std::optional<nanobind::callable>& callback) {
  return [&callback](std::uint64_t done, std::uint64_t total) {
    check_signals();
    if (!callback) return;
    const GilAcquire acquire;
    (*callback)(done, total);
  };
}

}  // namespace graphmount::bindings
