// Bindings of the probe that measures a disk.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "convert/arrays.hpp"
#include "graphmount/system/disk/disk_probe.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

ProbeWay to_way(const std::string& name) {
  if (name == "mapped") return ProbeWay::kMapped;
  if (name == "pread") return ProbeWay::kPread;
  if (name == "uring") return ProbeWay::kUring;
  throw std::invalid_argument("there is no way to read called " + name);
}

}  // namespace

void bind_system(nb::module_& module) {
  nb::class_<DiskProbe>(module, "DiskProbe")
      .def(
          "__init__",
          [](DiskProbe* self, const nb::bytes& path, std::optional<std::uint64_t> key) {
            new (self) DiskProbe(to_path(path), key);
          },
          "path"_a, "key"_a.none())
      .def_prop_ro("why_not_direct", &DiskProbe::why_not_direct)
      .def("undropped_bytes", &DiskProbe::undropped_bytes)
      .def(
          "run",
          [](const DiskProbe& self, const std::string& way, unsigned depth,
             std::uint64_t read_bytes, bool in_order, double seconds) {
            const ProbeOptions options{to_way(way), depth, read_bytes, in_order, seconds};
            const GilRelease release;
            const ProbeResult result = self.run(options);
            return std::tuple(result.reads, result.seconds);
          },
          "way"_a, nb::kw_only(), "depth"_a, "read_bytes"_a, "in_order"_a, "seconds"_a);

  module.def(
      "fill_probe_pattern",
      [](nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out,
         std::uint64_t offset, std::uint64_t key) {
        const std::span<std::uint64_t> words(out.data(), out.size());
        const GilRelease release;
        fill_probe_pattern(words, offset, key);
      },
      "out"_a, "offset"_a, "key"_a);
}

}  // namespace graphmount::bindings
