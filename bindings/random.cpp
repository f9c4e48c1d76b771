// Bindings of random keys: Python makes one of a seed and hands it back with a call.
#include "graphmount/base/random.hpp"

#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "arrays.hpp"

namespace graphmount::bindings {

void bind_random(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "random_key", [](const std::vector<std::uint64_t>& parts) { return make_key(parts).bits(); },
      "parts"_a);
}

}  // namespace graphmount::bindings
