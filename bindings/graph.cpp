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
#include "graphmount/graph/node_id_file.hpp"
#include "graphmount/graph/node_ids.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<SectionKind> =
    make_words<SectionKind>("section", {{"indptr", SectionKind::kIndptr},
                                        {"indices", SectionKind::kIndices},
                                        {"weights", SectionKind::kWeights},
                                        {"timestamps", SectionKind::kTimestamps},
                                        {"edge ids", SectionKind::kEdgeIds},
                                        {"source rows", SectionKind::kSourceRows}});

template <>
inline constexpr auto kWords<ReadAhead> = make_words<ReadAhead>(
    "reads",
    {{"auto", ReadAhead::kAuto}, {"batch", ReadAhead::kBatch}, {"fault", ReadAhead::kNone}});

template <>
inline constexpr auto kWords<NodeIds::Kind> =
    make_words<NodeIds::Kind>("kind", {{"int", NodeIds::Kind::kNumbers},
                                       {"str", NodeIds::Kind::kNames},
                                       {"none", NodeIds::Kind::kNone}});

namespace {

using nb::literals::operator""_a;

using IdColumn = Column<std::int64_t>;
using SharedGraph = std::shared_ptr<const Graph>;

using ReadOnlyArray = nb::ndarray<nb::numpy, nb::ro>;

std::optional<ReadOnlyArray> list_section(const Graph& graph, SectionKind kind,
                                          Direction direction) {
  const Section* section = graph.find(kind, direction);
  if (section == nullptr) return std::nullopt;
  return view_section<ReadOnlyArray>(graph.mount().map_for_view(MapMode::kShared), *section, 1,
                                     to_dlpack(section->dtype));
}

std::optional<std::tuple<nb::ndarray<nb::numpy>, bool>> private_list_section(const Graph& graph,
                                                                             SectionKind kind,
                                                                             Direction direction) {
  const Section* section = graph.find(kind, direction);
  if (section == nullptr) return std::nullopt;
  return private_view(graph.mount(), *section, 1, to_dlpack(section->dtype));
}

/// An array of weights or of integers, whichever the section has, that read(Item{}) gives without
/// the GIL.
template <class Read>
nb::object to_items(SectionKind kind, const Read& read) {
  const auto make = [&](auto item) {
    return nb::cast(to_numpy(without_gil([&] { return read(item); })));
  };
  return kind == SectionKind::kWeights ? make(float{}) : make(std::int64_t{});
}

/// A copy of a part of a section, checked: the way for our own code, where views are for users.
nb::object read_list(const Graph& graph, SectionKind kind, Direction direction, std::uint64_t first,
                     std::uint64_t count) {
  return to_items(kind, [&]<class Item>(Item) {
    return graphmount::read_list<Item>(graph, kind, direction, first, count);
  });
}

/// The weights, the timestamps or the source rows of entries.
nb::object gather_list(const Graph& graph, SectionKind kind, Direction direction,
                       const IdColumn& positions) {
  if (kind == SectionKind::kSourceRows)
    return nb::cast(make_array<std::int64_t>(positions.size(), [&](std::span<std::int64_t> out) {
      gather_source_rows(graph, to_span(positions), out);
    }));
  if (kind != SectionKind::kWeights && kind != SectionKind::kTimestamps)
    throw std::invalid_argument(
        say("weights and timestamps can be gathered, not '", section_name(kind), "'"));
  return to_items(kind, [&]<class Item>(Item) {
    return graphmount::gather_list<Item>(graph, kind, direction, to_span(positions));
  });
}

auto degrees(const Graph& graph, const IdColumn& nodes, Direction direction) {
  return make_array<std::int64_t>(nodes.size(), [&](std::span<std::int64_t> out) {
    graph.degrees(to_span(nodes), direction, out);
  });
}

auto all_degrees(const Graph& graph, Direction direction) {
  graph.stored_direction(direction);  // without lists, any number of nodes could be claimed
  return make_array<std::int64_t>(
      static_cast<std::size_t>(graph.num_lists(direction)),
      [&](std::span<std::int64_t> out) { graph.all_degrees(direction, out); });
}

std::tuple<EdgeId, EdgeId> neighbor_range(const Graph& graph, NodeId node, Direction direction) {
  const ListRange range = graph.neighbor_range(node, direction);
  return {range.begin, range.end};
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
  graph
      .def(nb::new_([](const std::filesystem::path& path, const std::optional<int>& descriptor) {
             return std::make_shared<Graph>(open_file(path, descriptor));
           }),
           "path"_a, "descriptor"_a = nb::none(), nb::call_guard<GilRelease>())
      .def_prop_ro("num_nodes", &Graph::num_nodes)
      .def_prop_ro("is_rectangular", &Graph::is_rectangular)
      .def_prop_ro("num_sources", &Graph::num_sources)
      .def_prop_ro("num_destinations", &Graph::num_destinations)
      .def_prop_ro("source_order", &Graph::source_order)
      .def_prop_ro("num_edges", &Graph::num_edges)
      .def_prop_ro("is_undirected", &Graph::is_undirected)
      .def_prop_ro("is_sorted_by_time",
                   [](const Graph& self) { return self.mount().header().has(kFlagSortedByTime); })
      .def_prop_rw(
          "reads", [](const Graph& self) { return self.resident_pages().read_ahead(); },
          [](const Graph& self, ReadAhead mode) { self.resident_pages().set_read_ahead(mode); })
      .def_prop_ro("node_id_kind", [](const Graph& self) { return NodeIds::kind_of(self.mount()); })
      .def("has_lists", &Graph::has_lists, "direction"_a)
      .def("list_section", &list_section, "name"_a, "direction"_a)
      .def("private_list_section", &private_list_section, "name"_a, "direction"_a)
      .def(
          "has_list_section",
          [](const Graph& self, SectionKind kind, Direction direction) {
            return self.find(kind, direction) != nullptr;
          },
          "name"_a, "direction"_a)
      .def("read_list", &read_list, "name"_a, "direction"_a, "first"_a, "count"_a)
      .def("gather_list", &gather_list, "name"_a, "direction"_a, "positions"_a)
      .def("degrees", &degrees, "nodes"_a, "direction"_a)
      .def("all_degrees", &all_degrees, "direction"_a)
      .def("neighbor_range", &neighbor_range, "node"_a, "direction"_a, nb::call_guard<GilRelease>())
      .def(
          "prefetch",
          [](const Graph& self, const Copied<NodeId>& nodes, Direction direction) {
            return self.prefetch(nodes, direction);
          },
          "nodes"_a, "direction"_a, nb::call_guard<GilRelease>())
      .def("degree_summary", &summarize_degrees, "direction"_a, nb::call_guard<GilRelease>());
  bind_mount(graph);

  nb::class_<NodeIdFile> ids(module, "NodeIdFile");
  ids.def(nb::new_([](const std::filesystem::path& path, const std::optional<int>& descriptor) {
            return std::make_shared<NodeIdFile>(open_file(path, descriptor));
          }),
          "path"_a, "descriptor"_a = nb::none(), nb::call_guard<GilRelease>())
      .def_prop_ro("num_nodes", &NodeIdFile::num_nodes)
      .def_prop_ro("node_id_kind",
                   [](const NodeIdFile& self) { return NodeIds::kind_of(self.mount()); });
  bind_mount(ids);

  module.def("find_edges", &find_edges_of, "graph"_a, "sources"_a, "destinations"_a);
}

}  // namespace graphmount::bindings
