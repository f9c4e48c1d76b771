// Bindings of feature files: mounted ones, and writers of new ones.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

#include "convert/arrays.hpp"
#include "convert/handles.hpp"
#include "convert/mounted_features.hpp"
#include "graphmount/system/mapping/prefetch.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/feature_writer.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

using OutBytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<std::byte> bytes_of(const OutBytes& out) {
  return std::as_writable_bytes(std::span(out.data(), out.size()));
}

nb::ndarray<nb::numpy, nb::ro> shared_view(const MountedFeatures& features) {
  return view_section<nb::ndarray<nb::numpy, nb::ro>>(
      features.mount().map_for_view(MapMode::kShared), features.matrix(), num_dimensions(features),
      to_numpy_dtype(features.matrix().dtype));
}

// For the DLPack protocol, with the true dtype, bfloat16 included; marked as read-only where the
// system refused a private mapping.
nb::object dlpack_view(const MountedFeatures& features) {
  auto mapping = features.mount().map_for_view(MapMode::kPrivate);
  const auto dtype = to_dlpack(features.matrix().dtype);
  if (mapping->is_writable())
    return nb::cast(view_section<nb::ndarray<nb::array_api>>(std::move(mapping), features.matrix(),
                                                             num_dimensions(features), dtype));
  return nb::cast(view_section<nb::ndarray<nb::array_api, nb::ro>>(
      std::move(mapping), features.matrix(), num_dimensions(features), dtype));
}

std::optional<nb::ndarray<nb::numpy, float, nb::ndim<1>>> scales(const MountedFeatures& features) {
  if (features.scales() == nullptr) return std::nullopt;
  return to_numpy(features.read_scales());
}

void make_feature_writer(FeatureWriter* self, const std::filesystem::path& path, DType dtype,
                         std::optional<std::uint64_t> rows, std::uint64_t columns,
                         bool one_dimensional, std::uint64_t order,
                         std::optional<Copied<float>> scales) {
  FeatureLayout layout{dtype, rows, columns, one_dimensional, order, {}};
  if (scales) layout.scales = std::move(*scales);
  new (self) FeatureWriter(path, layout);
}

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<MountedFeatures> features(module, "FeatureMatrix");
  features
      .def(
          "__init__",
          [](MountedFeatures* self, const std::filesystem::path& path,
             const std::optional<int>& descriptor) {
            new (self) MountedFeatures(open_file(path, descriptor));
          },
          "path"_a, "descriptor"_a = nb::none(), nb::call_guard<GilRelease>())
      .def_prop_ro("dtype", [](const MountedFeatures& self) { return self.matrix().dtype; })
      .def_prop_ro("num_rows", &MountedFeatures::num_rows)
      .def_prop_ro("num_columns", [](const MountedFeatures& self) { return self.matrix().columns; })
      .def_prop_ro("is_one_dimensional", &MountedFeatures::is_one_dimensional)
      .def("scales", &scales)
      .def("shared_view", &shared_view)
      .def("private_view",
           [](const MountedFeatures& self) {
             return private_view(self.mount(), self.matrix(), num_dimensions(self),
                                 to_numpy_dtype(self.matrix().dtype));
           })
      .def("dlpack_view", &dlpack_view)
      .def(
          "prefetch",
          [](const MountedFeatures& self, const Copied<std::int64_t>& rows) {
            return self.prefetch(rows);
          },
          "rows"_a, nb::call_guard<GilRelease>())
      .def(
          "read_rows",
          [](const MountedFeatures& self, std::uint64_t first, const OutBytes& out) {
            self.read_rows(first, bytes_of(out));
          },
          "first"_a, "out"_a.noconvert(), nb::call_guard<GilRelease>())
      .def(
          "gather",
          [](const MountedFeatures& self, const Column<std::int64_t>& ids, DType dtype,
             const OutBytes& out,
             ReaderKind reader) { self.gather.gather(to_span(ids), dtype, bytes_of(out), reader); },
          "ids"_a, "dtype"_a, "out"_a.noconvert(), "reader"_a, nb::call_guard<GilRelease>())
      .def(
          "why_no_reader",
          [](const MountedFeatures& self, ReaderKind reader) {
            return why_no_reader(self, reader);
          },
          "reader"_a, nb::call_guard<GilRelease>());
  bind_mount(features);
  module.def(
      "prefetch_memory",
      [](const Column<std::uint8_t>& bytes) { prefetch_memory(std::as_bytes(to_span(bytes))); },
      "bytes"_a, nb::call_guard<GilRelease>());

  nb::class_<FeatureWriter>(module, "FeatureWriter")
      .def("__init__", &make_feature_writer, "path"_a, nb::kw_only(), "dtype"_a, "rows"_a.none(),
           "columns"_a, "one_dimensional"_a, "order"_a, "scales"_a.none() = nb::none(),
           nb::call_guard<GilRelease>())
      .def(
          "append",
          [](FeatureWriter& self, const Column<std::uint8_t>& bytes) {
            self.append(std::as_bytes(to_span(bytes)));
          },
          "bytes"_a, nb::call_guard<GilRelease>())
      .def("finish", &FeatureWriter::finish, "rows"_a.none() = nb::none(),
           nb::call_guard<GilRelease>())
      .def("close", &FeatureWriter::close, nb::call_guard<ClosingRelease>());
}

}  // namespace graphmount::bindings
