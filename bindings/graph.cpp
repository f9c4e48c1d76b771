// Bindings of mounted graphs, and of the search for edges.
#include "graphmount/graph/graph.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <stdexcept>
#include <utility>

#include "convert/arrays.hpp"
#include "convert/handles.hpp"
#include "convert/words.hpp"
#include "graphmount/graph/degree_summary.hpp"
#include "graphmount/graph/edge_search.hpp"
#include "graphmount/graph/list_reads.hpp"
#include "graphmount/graph/node_ids.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

using IdColumn = Column<std::int64_t>;
using SharedGraph = std::shared_ptr<const Graph>;

std::shared_ptr<Graph> open_graph(const nb::bytes& path, const std::optional<int>& descriptor) {
  const std::filesystem::path target = to_path(path);
  const GilRelease release;
  return std::make_shared<Graph>(open_file(target, descriptor));
}

SectionKind to_list_section(const std::string& name) {
  for (const SectionKind kind :
       {SectionKind::kIndptr, SectionKind::kIndices, SectionKind::kWeights,
        SectionKind::kTimestamps, SectionKind::kEdgeIds, SectionKind::kSourceRows})
    if (section_name(kind) == name) return kind;
  throw std::invalid_argument("there is no section called '" + name + "'");
}

constexpr std::pair<const char*, ReadAhead> kReads[] = {
    {"auto", ReadAhead::kAuto}, {"batch", ReadAhead::kBatch}, {"fault", ReadAhead::kNone}};

std::string reads_of(const Graph& graph) {
  for (const auto& [name, mode] : kReads)
    if (graph.resident_pages().read_ahead() == mode) return name;
  throw std::logic_error("unknown mode of reading");
}

void set_reads(Graph& graph, const std::string& wanted) {
  for (const auto& [name, mode] : kReads)
    if (name == wanted) return graph.resident_pages().set_read_ahead(mode);
  throw std::invalid_argument("reads is 'auto', 'batch' or 'fault', not '" + wanted + "'");
}

using ReadOnlyArray = nb::ndarray<nb::numpy, nb::ro>;

std::optional<ReadOnlyArray> list_section(const Graph& graph, const std::string& name,
                                          const std::string& direction) {
  const Section* section = graph.find(to_list_section(name), to_direction(direction));
  if (section == nullptr) return std::nullopt;
  return view_section<ReadOnlyArray>(graph.mount().map_for_view(MapMode::kShared), *section, 1,
                                     to_dlpack(section->dtype));
}

std::optional<std::tuple<nb::ndarray<nb::numpy>, bool>> private_list_section(
    const Graph& graph, const std::string& name, const std::string& direction) {
  const Section* section = graph.find(to_list_section(name), to_direction(direction));
  if (section == nullptr) return std::nullopt;
  return private_view(graph.mount(), *section, 1, to_dlpack(section->dtype));
}

/// An array of weights or of integers, whichever the section has, read without the GIL.
template <class ReadWeights, class ReadIntegers>
nb::object to_items(SectionKind kind, const ReadWeights& read_weights,
                    const ReadIntegers& read_integers) {
  return kind == SectionKind::kWeights ? nb::cast(to_numpy(without_gil(read_weights)))
                                       : nb::cast(to_numpy(without_gil(read_integers)));
}

/// A copy of a part of a section, checked: the way for our own code, where views are for users.
nb::object read_list(const Graph& graph, const std::string& name, const std::string& direction,
                     std::uint64_t first, std::uint64_t count) {
  const SectionKind kind = to_list_section(name);
  const Direction parsed = to_direction(direction);
  return to_items(
      kind, [&] { return read_list_weights(graph, parsed, first, count); },
      [&] { return read_list_integers(graph, kind, parsed, first, count); });
}

/// The weights, the timestamps or the source rows of entries.
nb::object gather_list(const Graph& graph, const std::string& name, const std::string& direction,
                       const IdColumn& positions) {
  const SectionKind kind = to_list_section(name);
  const Direction parsed = to_direction(direction);
  if (kind == SectionKind::kSourceRows)
    return nb::cast(make_array<std::int64_t>(positions.size(), [&](std::span<std::int64_t> out) {
      gather_source_rows(graph, to_span(positions), out);
    }));
  if (kind != SectionKind::kWeights && kind != SectionKind::kTimestamps)
    throw std::invalid_argument("weights and timestamps can be gathered, not '" + name + "'");
  return to_items(
      kind, [&] { return gather_list_weights(graph, parsed, to_span(positions)); },
      [&] { return gather_list_timestamps(graph, parsed, to_span(positions)); });
}

bool has_list_section(const Graph& graph, const std::string& name, const std::string& direction) {
  return graph.find(to_list_section(name), to_direction(direction)) != nullptr;
}

auto degrees(const Graph& graph, const IdColumn& nodes, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  return make_array<std::int64_t>(nodes.size(), [&](std::span<std::int64_t> out) {
    graph.degrees(to_span(nodes), parsed, out);
  });
}

auto all_degrees(const Graph& graph, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  return make_array<std::int64_t>(
      static_cast<std::size_t>(graph.num_nodes()),
      [&](std::span<std::int64_t> out) { graph.all_degrees(parsed, out); });
}

std::tuple<EdgeId, EdgeId> neighbor_range(const Graph& graph, NodeId node,
                                          const std::string& direction) {
  const Direction parsed = to_direction(direction);
  const GilRelease release;
  const ListRange range = graph.neighbor_range(node, parsed);
  return {range.begin, range.end};
}

std::uint64_t prefetch(const Graph& graph, const IdColumn& nodes, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  const auto copied = to_vector(nodes);
  const GilRelease release;
  return graph.prefetch(copied, parsed);
}

DegreeSummary degree_summary(const Graph& graph, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  const GilRelease release;
  return summarize_degrees(graph, parsed);
}

std::string node_id_kind(const Graph& graph) {
  switch (NodeIds::kind_of(graph)) {
    case NodeIds::Kind::kNumbers:
      return "int";
    case NodeIds::Kind::kNames:
      return "str";
    default:
      return "none";
  }
}

auto find_edges_of(const Graph& graph, const IdColumn& sources, const IdColumn& destinations) {
  return make_array<std::uint8_t>(sources.size(), [&](std::span<std::uint8_t> out) {
    find_edges(graph, to_span(sources), to_span(destinations), out);
  });
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<DegreeSummary>(module, "DegreeSummary")
      .def_ro("smallest", &DegreeSummary::smallest)
      .def_ro("median", &DegreeSummary::median)
      .def_ro("ninety_percent", &DegreeSummary::ninety_percent)
      .def_ro("ninety_nine_percent", &DegreeSummary::ninety_nine_percent)
      .def_ro("largest", &DegreeSummary::largest)
      .def_ro("mean", &DegreeSummary::mean)
      .def_prop_ro("histogram", [](const DegreeSummary& summary) {
        return std::vector<std::int64_t>(summary.histogram.begin(), summary.histogram.end());
      });

  nb::class_<Graph> graph(module, "Graph");
  graph.def(nb::new_(&open_graph), "path"_a, "descriptor"_a = nb::none())
      .def_prop_ro("num_nodes", &Graph::num_nodes)
      .def_prop_ro("num_edges", &Graph::num_edges)
      .def_prop_ro("is_undirected", &Graph::is_undirected)
      .def_prop_ro("is_sorted_by_time",
                   [](const Graph& self) { return self.mount().header().has(kFlagSortedByTime); })
      .def_prop_rw("reads", &reads_of, &set_reads)
      .def_prop_ro("node_id_kind", &node_id_kind)
      .def(
          "has_lists",
          [](const Graph& self, const std::string& direction) {
            return self.has_lists(to_direction(direction));
          },
          "direction"_a)
      .def("list_section", &list_section, "name"_a, "direction"_a)
      .def("private_list_section", &private_list_section, "name"_a, "direction"_a)
      .def("has_list_section", &has_list_section, "name"_a, "direction"_a)
      .def("read_list", &read_list, "name"_a, "direction"_a, "first"_a, "count"_a)
      .def("gather_list", &gather_list, "name"_a, "direction"_a, "positions"_a)
      .def("degrees", &degrees, "nodes"_a, "direction"_a)
      .def("all_degrees", &all_degrees, "direction"_a)
      .def("neighbor_range", &neighbor_range, "node"_a, "direction"_a)
      .def("prefetch", &prefetch, "nodes"_a, "direction"_a)
      .def("degree_summary", &degree_summary, "direction"_a);
  bind_mount(graph);

  module.def("find_edges", &find_edges_of, "graph"_a, "sources"_a, "destinations"_a);
}

}  // namespace graphmount::bindings
