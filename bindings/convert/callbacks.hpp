// Progress reports on their way to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "gil.hpp"
#include "graphmount/base/progress.hpp"

namespace nanobind::detail {

/// Calls what the caller gave, or None, with the GIL held, and lets Ctrl-C through in any case.
/// Valid during the call that it is an argument of.
template <>
struct type_caster<graphmount::Progress> {
  NB_TYPE_CASTER(graphmount::Progress, make_caster<callable>::Name)

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) {
    value = [this](std::uint64_t done, std::uint64_t total) {
      graphmount::bindings::check_signals();
      if (!callback_.value) return;
      const graphmount::bindings::GilAcquire acquire;
      (*callback_.value)(done, total);
    };
    return callback_.from_python(source, flags, cleanup);
  }

 private:
  make_caster<std::optional<callable>> callback_;
};

}  // namespace nanobind::detail
