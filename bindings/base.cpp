// Bindings of the base: checksums of arrays, and random keys.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "convert/arrays.hpp"
#include "graphmount/base/checksum.hpp"
#include "graphmount/base/random.hpp"

namespace graphmount::bindings {

void bind_base(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "checksum",
      [](const Column<std::uint8_t>& bytes) { return xxh64(std::as_bytes(to_span(bytes))); },
      "bytes"_a, nb::call_guard<GilRelease>());
  module.def(
      "random_key", [](const std::vector<std::uint64_t>& parts) { return make_key(parts).bits(); },
      "parts"_a);
}

}  // namespace graphmount::bindings
