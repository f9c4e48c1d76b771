// Bindings of mounted graphs and their external node ids.
#include "graphmount/graph.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <stdexcept>

#include "graphmount/degree_summary.hpp"
#include "graphmount/node_ids.hpp"
#include "handles.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using IdColumn = Column<std::int64_t>;
using SharedGraph = std::shared_ptr<const Graph>;

std::shared_ptr<Graph> open_graph(const nb::bytes& path) {
  const std::filesystem::path target = to_path(path);
  const nb::gil_scoped_release release;
  return std::make_shared<Graph>(target);
}

Direction to_direction(const std::string& name) {
  if (name == "in") return Direction::kIn;
  if (name == "out") return Direction::kOut;
  throw std::invalid_argument("direction is 'in' or 'out', not '" + name + "'");
}

SectionKind to_list_section(const std::string& name) {
  for (const SectionKind kind :
       {SectionKind::kIndptr, SectionKind::kIndices, SectionKind::kWeights,
        SectionKind::kTimestamps, SectionKind::kEdgeIds, SectionKind::kSourceRows})
    if (section_name(kind) == name) return kind;
  throw std::invalid_argument("there is no section called '" + name + "'");
}

using ReadOnlyArray = nb::ndarray<nb::numpy, nb::ro>;

std::optional<ReadOnlyArray> list_section(const Graph& graph, const std::string& name,
                                          const std::string& direction) {
  const Section* section = graph.find(to_list_section(name), to_direction(direction));
  if (section == nullptr) return std::nullopt;
  return view_section<ReadOnlyArray>(graph.mount().map_for_view(MapMode::kShared), *section, 1,
                                     to_dlpack(section->dtype));
}

auto degrees(const Graph& graph, const IdColumn& nodes, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  std::vector<std::int64_t> out(nodes.size());
  {
    const nb::gil_scoped_release release;
    graph.degrees(to_span(nodes), parsed, out);
  }
  return to_numpy(std::move(out));
}

auto all_degrees(const Graph& graph, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  std::vector<std::int64_t> out(static_cast<std::size_t>(graph.num_nodes()));
  {
    const nb::gil_scoped_release release;
    graph.all_degrees(parsed, out);
  }
  return to_numpy(std::move(out));
}

std::tuple<EdgeId, EdgeId> neighbor_range(const Graph& graph, NodeId node,
                                          const std::string& direction) {
  const Direction parsed = to_direction(direction);
  const nb::gil_scoped_release release;
  const ListRange range = graph.neighbor_range(node, parsed);
  return {range.begin, range.end};
}

std::uint64_t prefetch(const Graph& graph, const IdColumn& nodes, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  const nb::gil_scoped_release release;
  return graph.prefetch(to_span(nodes), parsed);
}

DegreeSummary degree_summary(const Graph& graph, const std::string& direction) {
  const Direction parsed = to_direction(direction);
  const nb::gil_scoped_release release;
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

// Strings as Arrow keeps them: key i is data[offsets[i]:offsets[i + 1]].
auto find_names(const NodeIds& ids, const IdColumn& offsets, const Column<std::uint8_t>& data) {
  std::vector<NodeId> out(std::max<std::size_t>(offsets.size(), 1) - 1);
  {
    const nb::gil_scoped_release release;
    const auto places = to_span(offsets);
    std::vector<std::string_view> keys;
    keys.reserve(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (places[i] < 0 || places[i] > places[i + 1] ||
          static_cast<std::size_t>(places[i + 1]) > data.size())
        throw std::invalid_argument("the offsets of text " + std::to_string(i) +
                                    " are not within its data");
      keys.emplace_back(reinterpret_cast<const char*>(data.data()) + places[i],
                        static_cast<std::size_t>(places[i + 1] - places[i]));
    }
    ids.find(keys, out);
  }
  return to_numpy(std::move(out));
}

void bind_node_ids(nb::module_& module) {
  nb::class_<NodeIds>(module, "NodeIds")
      .def(nb::init<SharedGraph>(), "graph"_a)
      .def(
          "to_external",
          [](const NodeIds& ids, const IdColumn& nodes) {
            std::vector<std::int64_t> out(nodes.size());
            {
              const nb::gil_scoped_release release;
              ids.to_external(to_span(nodes), out);
            }
            return to_numpy(std::move(out));
          },
          "nodes"_a)
      .def(
          "to_external_names",
          [](const NodeIds& ids, const IdColumn& nodes) {
            const nb::gil_scoped_release release;
            return ids.to_external_names(to_span(nodes));
          },
          "nodes"_a)
      .def(
          "to_internal",
          [](const NodeIds& ids, const IdColumn& keys) {
            std::vector<NodeId> out(keys.size());
            {
              const nb::gil_scoped_release release;
              ids.to_internal(to_span(keys), out);
            }
            return to_numpy(std::move(out));
          },
          "keys"_a)
      .def(
          "names_to_internal",
          [](const NodeIds& ids, const std::vector<std::string>& keys) {
            std::vector<NodeId> out(keys.size());
            {
              const nb::gil_scoped_release release;
              ids.to_internal(keys, out);
            }
            return to_numpy(std::move(out));
          },
          "keys"_a)
      .def(
          "find",
          [](const NodeIds& ids, const IdColumn& keys) {
            std::vector<NodeId> out(keys.size());
            {
              const nb::gil_scoped_release release;
              ids.find(to_span(keys), out);
            }
            return to_numpy(std::move(out));
          },
          "keys"_a)
      .def("find_names", &find_names, "offsets"_a, "data"_a);
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
  graph.def(nb::new_(&open_graph), "path"_a)
      .def_prop_ro("num_nodes", &Graph::num_nodes)
      .def_prop_ro("num_edges", &Graph::num_edges)
      .def_prop_ro("is_undirected", &Graph::is_undirected)
      .def_prop_ro("is_sorted_by_time",
                   [](const Graph& self) { return self.mount().header().has(kFlagSortedByTime); })
      .def_prop_ro("node_id_kind", &node_id_kind)
      .def(
          "has_lists",
          [](const Graph& self, const std::string& direction) {
            return self.has_lists(to_direction(direction));
          },
          "direction"_a)
      .def("list_section", &list_section, "name"_a, "direction"_a)
      .def("degrees", &degrees, "nodes"_a, "direction"_a)
      .def("all_degrees", &all_degrees, "direction"_a)
      .def("neighbor_range", &neighbor_range, "node"_a, "direction"_a)
      .def("prefetch", &prefetch, "nodes"_a, "direction"_a)
      .def("degree_summary", &degree_summary, "direction"_a);
  bind_mount(graph);
  bind_node_ids(module);
}

}  // namespace graphmount::bindings
