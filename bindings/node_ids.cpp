// Bindings of the external node ids of a mounted graph.
#include "graphmount/graph/node_ids.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <utility>

#include "names.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using Numbers = Column<std::int64_t>;
using Bytes = Column<std::uint8_t>;

// fill(out) without the GIL, where out has `size` numbers.
template <class Fill>
auto make_numbers(std::size_t size, const Fill& fill) {
  std::vector<std::int64_t> out(size);
  {
    const GilRelease release;
    fill(std::span(out));
  }
  return to_numpy(std::move(out));
}

auto to_external_names(const NodeIds& ids, const Numbers& nodes) {
  OwnedNames names;
  {
    const GilRelease release;
    names = ids.to_external_names(to_span(nodes));
  }
  return std::pair(to_numpy(std::move(names.offsets)), to_numpy(std::move(names.bytes)));
}

}  // namespace

void bind_node_ids(nb::module_& module) {
  using Out = std::span<std::int64_t>;
  nb::class_<NodeIds>(module, "NodeIds")
      .def(nb::init<std::shared_ptr<const Graph>>(), "graph"_a)
      .def(
          "to_external",
          [](const NodeIds& ids, const Numbers& nodes) {
            return make_numbers(nodes.size(),
                                [&](Out out) { ids.to_external(to_span(nodes), out); });
          },
          "nodes"_a)
      .def("to_external_names", &to_external_names, "nodes"_a)
      .def(
          "to_internal",
          [](const NodeIds& ids, const Numbers& keys) {
            return make_numbers(keys.size(), [&](Out out) { ids.to_internal(to_span(keys), out); });
          },
          "keys"_a)
      .def(
          "names_to_internal",
          [](const NodeIds& ids, const Numbers& offsets, const Bytes& bytes) {
            const CallerNames keys = to_names(offsets, bytes);
            return make_numbers(keys.size(), [&](Out out) { ids.to_internal(keys.column(), out); });
          },
          "offsets"_a, "bytes"_a)
      .def(
          "find",
          [](const NodeIds& ids, const Numbers& keys) {
            return make_numbers(keys.size(), [&](Out out) { ids.find(to_span(keys), out); });
          },
          "keys"_a)
      .def(
          "find_names",
          [](const NodeIds& ids, const Numbers& offsets, const Bytes& data) {
            const CallerNames keys = to_names(offsets, data);
            return make_numbers(keys.size(), [&](Out out) { ids.find(keys.column(), out); });
          },
          "offsets"_a, "data"_a);
}

}  // namespace graphmount::bindings
