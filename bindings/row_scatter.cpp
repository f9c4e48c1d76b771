// Bindings of what brings rows into the order of their nodes.
#include "graphmount/compile/row_scatter.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "callbacks.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

Repeated to_repeated(const std::string& name) {
  if (name == "error") return Repeated::kRefuse;
  if (name == "first") return Repeated::kKeepFirst;
  if (name == "last") return Repeated::kKeepLast;
  throw std::invalid_argument("repeated is 'error', 'first' or 'last', not '" + name + "'");
}

void make_scatter(RowScatter* self, std::uint64_t row_bytes, std::optional<std::uint64_t> num_rows,
                  const std::string& repeated, const std::optional<Column<std::uint8_t>>& fill,
                  std::uint64_t memory, const nb::bytes& tmp,
                  const std::optional<nb::callable>& name_of) {
  ScatterOptions options{.row_bytes = row_bytes,
                         .num_rows = num_rows,
                         .repeated = to_repeated(repeated),
                         .refuse_missing = !fill,
                         .memory = memory,
                         .tmp = to_path(tmp)};
  if (fill) {
    const auto bytes = std::as_bytes(to_span(*fill));
    options.fill.assign(bytes.begin(), bytes.end());
  }
  if (name_of) {
    options.name_of = [function = *name_of](std::int64_t node) {
      const GilAcquire acquire;
      return nb::cast<std::string>(function(node));
    };
  }
  new (self) RowScatter(std::move(options));
}

}  // namespace

void bind_row_scatter(nb::module_& module) {
  nb::class_<RowScatter>(module, "RowScatter")
      .def("__init__", &make_scatter, nb::kw_only(), "row_bytes"_a, "num_rows"_a.none(),
           "repeated"_a, "fill"_a.none(), "memory"_a, "tmp"_a, "name_of"_a.none())
      .def("begin_at", &RowScatter::begin_at, "head"_a)
      .def(
          "add",
          [](RowScatter& self, const Column<std::int64_t>& destinations,
             const Column<std::uint8_t>& bytes) {
            const auto copied = to_vector(destinations);
            const GilRelease release;
            self.add(copied, std::as_bytes(to_span(bytes)));
          },
          "destinations"_a, "bytes"_a)
      .def_prop_ro("num_rows", &RowScatter::num_rows)
      .def(
          "write_to",
          [](RowScatter& self, FeatureWriter& writer, const std::optional<nb::callable>& progress) {
            const Progress report = to_progress(progress);
            const GilRelease release;
            const ScatterSummary summary = self.write_to(writer, report);
            return std::tuple(summary.missing, summary.repeated);
          },
          "writer"_a, "progress"_a.none())
      .def("close", &RowScatter::close);
}

}  // namespace graphmount::bindings
