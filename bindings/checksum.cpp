// Bindings of checksums of arrays, by which the Python layer tells one from another.
#include "graphmount/base/checksum.hpp"

#include <cstdint>

#include "arrays.hpp"

namespace graphmount::bindings {

void bind_checksum(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "checksum",
      [](const Column<std::uint8_t>& bytes) {
        const GilRelease release;
        return xxh64(std::as_bytes(to_span(bytes)));
      },
      "bytes"_a);
}

}  // namespace graphmount::bindings
