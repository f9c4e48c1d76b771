// Bindings of the writer of feature files.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

#include "arrays.hpp"
#include "graphmount/table/feature_writer.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

void make_feature_writer(FeatureWriter* self, const nb::bytes& path, const std::string& dtype,
                         std::optional<std::uint64_t> rows, std::uint64_t columns,
                         bool one_dimensional, std::uint64_t order,
                         const std::optional<Column<float>>& scales) {
  const DTypeTraits* traits = find_dtype(dtype);
  if (traits == nullptr) throw std::invalid_argument("there is no dtype '" + dtype + "'");
  FeatureLayout layout{traits->dtype, rows, columns, one_dimensional, order, {}};
  if (scales) layout.scales.assign(to_span(*scales).begin(), to_span(*scales).end());
  const std::filesystem::path target = to_path(path);
  const GilRelease release;
  new (self) FeatureWriter(target, layout);
}

}  // namespace

void bind_writers(nb::module_& module) {
  nb::class_<FeatureWriter>(module, "FeatureWriter")
      .def("__init__", &make_feature_writer, "path"_a, nb::kw_only(), "dtype"_a, "rows"_a.none(),
           "columns"_a, "one_dimensional"_a, "order"_a, "scales"_a.none() = nb::none())
      .def(
          "append",
          [](FeatureWriter& self, const Column<std::uint8_t>& bytes) {
            const GilRelease release;
            self.append(std::as_bytes(to_span(bytes)));
          },
          "bytes"_a)
      .def("finish", &FeatureWriter::finish, "rows"_a.none() = nb::none(),
           nb::call_guard<GilRelease>())
      .def("close", &FeatureWriter::close, nb::call_guard<ClosingRelease>());
}

}  // namespace graphmount::bindings
