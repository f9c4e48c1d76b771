// Bindings of the graph compiler, and of rows on their way to their places.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <variant>
#include <vector>

#include "convert/arrays.hpp"
#include "convert/callbacks.hpp"
#include "convert/given_ids.hpp"
#include "convert/words.hpp"
#include "graphmount/compile/graph_compiler.hpp"
#include "graphmount/compile/hot_order.hpp"
#include "graphmount/compile/node_id_sections.hpp"
#include "graphmount/compile/row_scatter.hpp"
#include "graphmount/graph/ids/order_fingerprint.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<Repeated> = make_words<Repeated>(
    "repeated",
    {{"error", Repeated::kRefuse}, {"first", Repeated::kKeepFirst}, {"last", Repeated::kKeepLast}});

namespace {

using nb::literals::operator""_a;

NewIds to_new_ids(const std::optional<AnyIds>& given) {
  if (!given) return {};
  return std::visit([](const auto& new_ids) { return NewIds(to_span(new_ids)); }, *given);
}

void make_compiler(GraphCompiler* self, std::optional<std::uint64_t> num_nodes, bool rectangular,
                   std::optional<std::uint64_t> num_sources, bool in_lists, bool out_lists,
                   bool undirected, bool weights, bool timestamps, Dedup dedup,
                   bool drop_self_loops, bool wide_indices, bool keep_source_rows,
                   std::uint64_t memory, const std::filesystem::path& folder,
                   std::uint64_t memory_parts, std::optional<std::uint64_t> waiting_memory) {
  new (self) GraphCompiler({.num_nodes = num_nodes,
                            .rectangular = rectangular,
                            .num_sources = num_sources,
                            .in_lists = in_lists,
                            .out_lists = out_lists,
                            .undirected = undirected,
                            .has_weights = weights,
                            .has_times = timestamps,
                            .dedup = dedup,
                            .drop_self_loops = drop_self_loops,
                            .wide_indices = wide_indices,
                            .keep_source_rows = keep_source_rows,
                            .memory = memory,
                            .memory_parts = memory_parts,
                            .waiting_memory = waiting_memory,
                            .folder = folder});
}

void add(GraphCompiler& self, const IdColumn& src, const IdColumn& dst,
         const std::optional<Column<float>>& weights, const std::optional<IdColumn>& timestamps) {
  EdgeColumns edges{to_span(src), to_span(dst), std::nullopt, std::nullopt};
  if (weights) edges.weights = to_span(*weights);
  if (timestamps) edges.times = to_span(*timestamps);
  self.add(edges);
}

using Compilers = std::vector<const GraphCompiler*>;

nb::object hot_ids_of(std::size_t num_nodes, const Compilers& compilers, bool wide,
                      const Progress& progress) {
  return make_ids(num_nodes, wide, [&](auto out) { hot_ids(compilers, out, progress); });
}

using Summary =
    std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

Summary to_tuple(const GraphSummary& summary) {
  return {summary.num_nodes, summary.num_edges, summary.file_bytes, summary.spilled_bytes,
          summary.num_sources};
}

std::uint64_t order_of(const std::string& type, const std::optional<AnyIds>& numbers,
                       const std::optional<NameColumns>& names) {
  const GivenIds given = to_ids(numbers, names);
  const GilRelease release;
  return typed_order(type, order_fingerprint(given.ids));
}

std::uint64_t write_ids(const std::filesystem::path& path, std::uint64_t order,
                        std::uint64_t memory, const std::optional<AnyIds>& numbers,
                        const std::optional<NameColumns>& names) {
  const GivenIds given = to_ids(numbers, names);
  const GilRelease release;
  return write_node_id_file(path, given.ids, order, memory);
}

Summary finish(GraphCompiler& self, const std::filesystem::path& path,
               const std::optional<AnyIds>& node_numbers,
               const std::optional<NameColumns>& node_names, const std::optional<AnyIds>& new_ids,
               const Progress& progress) {
  const GivenIds given = to_ids(node_numbers, node_names);
  const NewIds renumbering = to_new_ids(new_ids);
  const GilRelease release;
  return to_tuple(self.finish(path, given.ids, renumbering, progress));
}

// How many nodes an end of the edges has, their fingerprint, and their new ids.
using End = std::tuple<std::uint64_t, std::uint64_t, std::optional<AnyIds>>;

FinalNodes to_final_nodes(const End& end) {
  const auto& [count, order, new_ids] = end;
  return {count, order, to_new_ids(new_ids)};
}

Summary finish_relation(GraphCompiler& self, const std::filesystem::path& path, const End& sources,
                        const End& destinations, const Progress& progress) {
  const FinalNodes from = to_final_nodes(sources), to = to_final_nodes(destinations);
  const GilRelease release;
  return to_tuple(self.finish_between(path, from, to, progress));
}

void make_scatter(RowScatter* self, std::uint64_t row_bytes, std::optional<std::uint64_t> num_rows,
                  Repeated repeated, const std::optional<Column<std::uint8_t>>& fill,
                  std::uint64_t memory, const std::filesystem::path& tmp,
                  const std::optional<nb::callable>& name_of) {
  ScatterOptions options{.row_bytes = row_bytes,
                         .num_rows = num_rows,
                         .repeated = repeated,
                         .refuse_missing = !fill,
                         .memory = memory,
                         .tmp = tmp};
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

void bind_compile(nb::module_& module) {
  module.def(
      "hot_ids", &hot_ids_of, "num_nodes"_a, "compilers"_a, nb::kw_only(), "wide"_a = false,
      "progress"_a.none() = nb::none(),
      nb::sig("def hot_ids(num_nodes: int, compilers: Sequence[GraphCompiler], *, wide: bool "
              "= False, progress: Callable | None = None) -> Annotated[NDArray[numpy.uint32 | "
              "numpy.int64], dict(shape=(None,))]"));
  module.def("typed_order", &order_of, "type"_a, nb::kw_only(),
             "node_numbers"_a.noconvert().none() = nb::none(), "node_names"_a.none() = nb::none());
  module.def("write_node_ids", &write_ids, "path"_a, nb::kw_only(), "order"_a, "memory"_a,
             "node_numbers"_a.noconvert().none() = nb::none(), "node_names"_a.none() = nb::none());
  nb::class_<GraphCompiler>(module, "GraphCompiler")
      .def("__init__", &make_compiler, nb::kw_only(), "num_nodes"_a.none(), "rectangular"_a = false,
           "num_sources"_a.none() = nb::none(), "in_lists"_a, "out_lists"_a, "undirected"_a = false,
           "weights"_a = false, "timestamps"_a = false, "dedup"_a = "keep",
           "drop_self_loops"_a = false, "wide_indices"_a = false, "keep_source_rows"_a = false,
           "memory"_a, "folder"_a, "memory_parts"_a = 1, "waiting_memory"_a.none() = nb::none())
      .def("add", &add, "src"_a, "dst"_a, nb::kw_only(), "weights"_a.none() = nb::none(),
           "timestamps"_a.none() = nb::none(), nb::call_guard<GilRelease>())
      .def_prop_ro("num_rows", &GraphCompiler::num_rows)
      .def_prop_ro("num_nodes", &GraphCompiler::num_nodes)
      .def_prop_ro("num_sources", &GraphCompiler::num_sources)
      .def_prop_ro("first_direction", &GraphCompiler::first_direction)
      .def_prop_ro("num_destinations", &GraphCompiler::num_destinations)
      .def_prop_ro("waiting_bytes", &GraphCompiler::waiting_bytes)
      .def("set_memory", &GraphCompiler::set_memory, "memory"_a, nb::kw_only(), "parts"_a,
           nb::call_guard<GilRelease>())
      .def("finish", &finish, "path"_a, nb::kw_only(),
           "node_numbers"_a.noconvert().none() = nb::none(), "node_names"_a.none() = nb::none(),
           "new_ids"_a.noconvert().none() = nb::none(), "progress"_a.none() = nb::none())
      .def("finish_relation", &finish_relation, "path"_a, nb::kw_only(), "sources"_a.noconvert(),
           "destinations"_a.noconvert(), "progress"_a.none() = nb::none());

  nb::class_<RowScatter>(module, "RowScatter")
      .def("__init__", &make_scatter, nb::kw_only(), "row_bytes"_a, "num_rows"_a.none(),
           "repeated"_a, "fill"_a.none(), "memory"_a, "tmp"_a, "name_of"_a.none())
      .def("begin_at", &RowScatter::begin_at, "head"_a)
      .def(
          "add",
          [](RowScatter& self, const Copied<std::int64_t>& destinations,
             const Column<std::uint8_t>& bytes) {
            self.add(destinations, std::as_bytes(to_span(bytes)));
          },
          "destinations"_a, "bytes"_a, nb::call_guard<GilRelease>())
      .def_prop_ro("num_rows", &RowScatter::num_rows)
      .def(
          "write_to",
          [](RowScatter& self, FeatureWriter& writer, const Progress& progress) {
            const ScatterSummary summary = self.write_to(writer, progress);
            return std::tuple(summary.missing, summary.repeated);
          },
          "writer"_a, "progress"_a.none(), nb::call_guard<GilRelease>())
      .def("close", &RowScatter::close);
}

}  // namespace graphmount::bindings
