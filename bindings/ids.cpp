// Bindings of external ids: columns of names, ids of a mounted graph, and maps from keys to nodes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <string_view>
#include <utility>

#include "convert/arrays.hpp"
#include "convert/names.hpp"
#include "graphmount/graph/ids/id_map.hpp"
#include "graphmount/graph/node_ids.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

// Raises TypeError for what is no str, UnicodeEncodeError for what is no text.
auto join_names(const nb::list& texts) {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::uint8_t> bytes;
  offsets.reserve(texts.size() + 1);
  for (const nb::handle text : texts) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    bytes.insert(bytes.end(), data, data + size);
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  return std::pair(to_numpy(std::move(offsets)), to_numpy(std::move(bytes)));
}

nb::list split_names(const Column<std::int64_t>& offsets, const Column<std::uint8_t>& bytes) {
  const CallerNames given = to_names(offsets, bytes);
  const NameColumn names = given.column();
  const auto size = static_cast<Py_ssize_t>(names.size());
  nb::list texts = nb::steal<nb::list>(PyList_New(size));
  if (!texts.is_valid()) throw nb::python_error();
  for (Py_ssize_t i = 0; i < size; ++i) {
    const std::string_view name = names[static_cast<std::size_t>(i)];
    PyObject* text =
        PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), nullptr);
    if (text == nullptr) throw nb::python_error();
    PyList_SetItem(texts.ptr(), i, text);  // takes the reference
  }
  return texts;
}

void bind_names_part(nb::module_& module) {
  module.def("join_names", &join_names, "texts"_a);
  module.def("split_names", &split_names, "offsets"_a, "bytes"_a);
}

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

void bind_node_ids_part(nb::module_& module) {
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

using Numbers = Column<std::int64_t>;
using Bytes = Column<std::uint8_t>;
using Names = std::pair<Numbers, Bytes>;  // offsets, and what they cut

template <class Items>
auto copy_to_numpy(const Items& items) {
  using Item = typename Items::value_type;
  return to_numpy(std::vector<Item>(items.begin(), items.end()));
}

void bind_id_maps_part(nb::module_& module) {
  nb::class_<NumberMap>(module, "NumberMap")
      .def(nb::init<>())
      .def("__len__", [](const NumberMap& self) { return self.keys().size(); })
      .def_prop_ro("memory_bytes", &NumberMap::bytes)
      .def(
          "add",
          [](NumberMap& self, const Numbers& first, const Numbers& second) {
            std::vector<NodeId> first_ids(first.size()), second_ids(second.size());
            {
              const GilRelease release;
              self.add(to_span(first), to_span(second), first_ids, second_ids);
            }
            return std::pair(to_numpy(std::move(first_ids)), to_numpy(std::move(second_ids)));
          },
          "first"_a, "second"_a)
      .def(
          "find",
          [](const NumberMap& self, const Numbers& keys) {
            std::vector<NodeId> ids(keys.size());
            {
              const GilRelease release;
              self.find(to_span(keys), ids);
            }
            return to_numpy(std::move(ids));
          },
          "keys"_a)
      .def("keys", [](const NumberMap& self) { return copy_to_numpy(self.keys()); });

  nb::class_<NameMap>(module, "NameMap")
      .def(nb::init<>())
      .def("__len__", [](const NameMap& self) { return self.keys().size(); })
      .def_prop_ro("memory_bytes", &NameMap::bytes)
      .def(
          "add",
          [](NameMap& self, const Names& first, const Names& second) {
            const CallerNames firsts = to_names(first.first, first.second);
            const CallerNames seconds = to_names(second.first, second.second);
            std::vector<NodeId> first_ids(firsts.size()), second_ids(seconds.size());
            {
              const GilRelease release;
              self.add(firsts.column(), seconds.column(), first_ids, second_ids);
            }
            return std::pair(to_numpy(std::move(first_ids)), to_numpy(std::move(second_ids)));
          },
          "first"_a, "second"_a)
      .def(
          "find",
          [](const NameMap& self, const Numbers& offsets, const Bytes& bytes) {
            const CallerNames names = to_names(offsets, bytes);
            std::vector<NodeId> ids(names.size());
            {
              const GilRelease release;
              self.find(names.column(), ids);
            }
            return to_numpy(std::move(ids));
          },
          "offsets"_a, "bytes"_a)
      .def("keys", [](const NameMap& self) {
        const NameColumn names = self.keys();
        const std::span<const char> bytes = names.bytes;
        return std::pair(copy_to_numpy(names.offsets),
                         to_numpy(std::vector<std::uint8_t>(bytes.begin(), bytes.end())));
      });
}

}  // namespace

void bind_ids(nb::module_& module) {
  bind_names_part(module);
  bind_node_ids_part(module);
  bind_id_maps_part(module);
}

}  // namespace graphmount::bindings
