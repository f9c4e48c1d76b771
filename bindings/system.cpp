// Bindings of the probe that measures a disk.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "convert/arrays.hpp"
#include "convert/words.hpp"
#include "graphmount/system/disk/disk_probe.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<ProbeWay> = make_words<ProbeWay>(
    "way",
    {{"mapped", ProbeWay::kMapped}, {"pread", ProbeWay::kPread}, {"uring", ProbeWay::kUring}});

void bind_system(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<DiskProbe>(module, "DiskProbe")
      .def(nb::init<const std::filesystem::path&, std::optional<std::uint64_t>>(), "path"_a,
           "key"_a.none())
      .def_prop_ro("why_not_direct", &DiskProbe::why_not_direct)
      .def("undropped_bytes", &DiskProbe::undropped_bytes)
      .def(
          "run",
          [](const DiskProbe& self, ProbeWay way, unsigned depth, std::uint64_t read_bytes,
             bool in_order, double seconds) {
            const ProbeResult result = self.run({way, depth, read_bytes, in_order, seconds});
            return std::tuple(result.reads, result.seconds);
          },
          "way"_a, nb::kw_only(), "depth"_a, "read_bytes"_a, "in_order"_a, "seconds"_a,
          nb::call_guard<GilRelease>());

  module.def(
      "fill_probe_pattern",
      [](nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out,
         std::uint64_t offset,
         std::uint64_t key) { fill_probe_pattern({out.data(), out.size()}, offset, key); },
      "out"_a, "offset"_a, "key"_a, nb::call_guard<GilRelease>());
}

}  // namespace graphmount::bindings
