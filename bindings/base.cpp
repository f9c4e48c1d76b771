// Bindings of the base: checksums of arrays, and random keys.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "convert/arrays.hpp"
#include "graphmount/base/checksum.hpp"
#include "graphmount/base/random.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

void bind_checksum_part(nb::module_& module) {
  module.def(
      "checksum",
      [](const Column<std::uint8_t>& bytes) {
        const GilRelease release;
        return xxh64(std::as_bytes(to_span(bytes)));
      },
      "bytes"_a);
}

void bind_random_part(nb::module_& module) {
  module.def(
      "random_key", [](const std::vector<std::uint64_t>& parts) { return make_key(parts).bits(); },
      "parts"_a);
}

}  // namespace

void bind_base(nb::module_& module) {
  bind_checksum_part(module);
  bind_random_part(module);
}

}  // namespace graphmount::bindings
