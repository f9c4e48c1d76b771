// Bindings of mounted feature matrices.
#include "graphmount/features.hpp"

#include "graphmount/prefetch.hpp"
#include "handles.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

std::size_t num_dimensions(const FeatureMatrix& features) {
  return features.is_one_dimensional() ? 1 : 2;
}

// NumPy has no bfloat16: there its bits are shown as uint16.
nb::dlpack::dtype numpy_dtype(const FeatureMatrix& features) {
  const DType dtype = features.matrix().dtype;
  return dtype == DType::kBFloat16 ? nb::dtype<std::uint16_t>() : to_dlpack(dtype);
}

nb::ndarray<nb::numpy, nb::ro> shared_view(const FeatureMatrix& features) {
  return view_section<nb::ndarray<nb::numpy, nb::ro>>(
      features.mount().map_for_view(MapMode::kShared), features.matrix(), num_dimensions(features),
      numpy_dtype(features));
}

// The array, and whether writing to it is safe: false where the system refused a private mapping.
std::tuple<nb::ndarray<nb::numpy>, bool> private_view(const FeatureMatrix& features) {
  auto mapping = features.mount().map_for_view(MapMode::kPrivate);
  const bool is_writable = mapping->is_writable();
  return {view_section<nb::ndarray<nb::numpy>>(std::move(mapping), features.matrix(),
                                               num_dimensions(features), numpy_dtype(features)),
          is_writable};
}

// For the DLPack protocol, with the true dtype, bfloat16 included; marked as read-only where the
// system refused a private mapping.
nb::object dlpack_view(const FeatureMatrix& features) {
  auto mapping = features.mount().map_for_view(MapMode::kPrivate);
  const auto dtype = to_dlpack(features.matrix().dtype);
  if (mapping->is_writable())
    return nb::cast(view_section<nb::ndarray<nb::array_api>>(std::move(mapping), features.matrix(),
                                                             num_dimensions(features), dtype));
  return nb::cast(view_section<nb::ndarray<nb::array_api, nb::ro>>(
      std::move(mapping), features.matrix(), num_dimensions(features), dtype));
}

std::optional<nb::ndarray<nb::numpy, float, nb::ndim<1>>> scales(const FeatureMatrix& features) {
  if (features.scales() == nullptr) return std::nullopt;
  return to_numpy(features.read_scales());
}

}  // namespace

void bind_features(nb::module_& module) {
  nb::class_<FeatureMatrix> features(module, "FeatureMatrix");
  features
      .def(
          "__init__",
          [](FeatureMatrix* self, const nb::bytes& path) {
            const std::filesystem::path target = to_path(path);
            const nb::gil_scoped_release release;
            new (self) FeatureMatrix(target);
          },
          "path"_a)
      .def_prop_ro("dtype",
                   [](const FeatureMatrix& self) {
                     return std::string(traits_of(self.matrix().dtype).name);
                   })
      .def_prop_ro("num_rows", &FeatureMatrix::num_rows)
      .def_prop_ro("num_columns", [](const FeatureMatrix& self) { return self.matrix().columns; })
      .def_prop_ro("is_one_dimensional", &FeatureMatrix::is_one_dimensional)
      .def("scales", &scales)
      .def("shared_view", &shared_view)
      .def("private_view", &private_view)
      .def("dlpack_view", &dlpack_view)
      .def(
          "prefetch",
          [](const FeatureMatrix& self, const Column<std::int64_t>& rows) {
            const nb::gil_scoped_release release;
            return self.prefetch(to_span(rows));
          },
          "rows"_a);
  bind_mount(features);
  module.def(
      "prefetch_memory",
      [](const Column<std::uint8_t>& bytes) {
        const nb::gil_scoped_release release;
        prefetch_memory(std::as_bytes(to_span(bytes)));
      },
      "bytes"_a);
}

}  // namespace graphmount::bindings
