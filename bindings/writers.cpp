// Bindings of the writers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "callbacks.hpp"
#include "graphmount/feature_writer.hpp"
#include "graphmount/graph_writer.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using IdColumn = Column<std::int64_t>;

Dedup to_dedup(const std::string& name) {
  if (name == "keep") return Dedup::kKeepAll;
  if (name == "first") return Dedup::kKeepFirst;
  if (name == "sum") return Dedup::kSumWeights;
  throw std::invalid_argument("dedup is 'keep', 'first' or 'sum', not '" + name + "'");
}

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> write_graph_file(
    const nb::bytes& path, const IdColumn& src, const IdColumn& dst,
    const std::optional<Column<float>>& weights, const std::optional<IdColumn>& timestamps,
    const std::optional<IdColumn>& node_numbers, std::optional<std::vector<std::string>> node_names,
    std::optional<std::uint64_t> num_nodes, bool in_lists, bool out_lists, bool undirected,
    const std::string& dedup, bool drop_self_loops, bool wide_indices, bool keep_source_rows,
    const std::optional<nb::callable>& progress) {
  EdgeColumns edges{to_span(src), to_span(dst), std::nullopt, std::nullopt};
  if (weights) edges.weights = to_span(*weights);
  if (timestamps) edges.times = to_span(*timestamps);
  ExternalIds node_ids;
  if (node_numbers) node_ids.numbers = to_span(*node_numbers);
  if (node_names) node_ids.names = std::move(*node_names);
  const GraphOptions options{num_nodes,       in_lists,        out_lists,    undirected,
                             to_dedup(dedup), drop_self_loops, wide_indices, keep_source_rows};
  const std::filesystem::path target = to_path(path);
  const Progress report = to_progress(progress);
  const nb::gil_scoped_release release;
  const GraphSummary summary = write_graph(target, edges, node_ids, options, report);
  return {summary.num_nodes, summary.num_edges, summary.file_bytes};
}

void make_feature_writer(FeatureWriter* self, const nb::bytes& path, const std::string& dtype,
                         std::optional<std::uint64_t> rows, std::uint64_t columns,
                         bool one_dimensional, std::uint64_t order,
                         const std::optional<Column<float>>& scales) {
  const DTypeTraits* traits = find_dtype(dtype);
  if (traits == nullptr) throw std::invalid_argument("there is no dtype '" + dtype + "'");
  FeatureLayout layout{traits->dtype, rows, columns, one_dimensional, order, {}};
  if (scales) layout.scales.assign(to_span(*scales).begin(), to_span(*scales).end());
  const std::filesystem::path target = to_path(path);
  const nb::gil_scoped_release release;
  new (self) FeatureWriter(target, layout);
}

}  // namespace

void bind_writers(nb::module_& module) {
  module.def("write_graph", &write_graph_file, "path"_a, "src"_a, "dst"_a, nb::kw_only(),
             "weights"_a.none(), "timestamps"_a.none(), "node_numbers"_a.none(),
             "node_names"_a.none(), "num_nodes"_a.none(), "in_lists"_a, "out_lists"_a,
             "undirected"_a, "dedup"_a, "drop_self_loops"_a, "wide_indices"_a, "keep_source_rows"_a,
             "progress"_a.none());

  nb::class_<FeatureWriter>(module, "FeatureWriter")
      .def("__init__", &make_feature_writer, "path"_a, nb::kw_only(), "dtype"_a, "rows"_a.none(),
           "columns"_a, "one_dimensional"_a, "order"_a, "scales"_a.none() = nb::none())
      .def(
          "append",
          [](FeatureWriter& self, const Column<std::uint8_t>& bytes) {
            const nb::gil_scoped_release release;
            self.append(std::as_bytes(to_span(bytes)));
          },
          "bytes"_a)
      .def("finish", &FeatureWriter::finish, "rows"_a.none() = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("close", &FeatureWriter::close);
}

}  // namespace graphmount::bindings
