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

auto to_pair(OwnedNames names) {
  return std::pair(to_numpy(std::move(names.offsets)), to_numpy(std::move(names.bytes)));
}

// Raises TypeError for what is no str, UnicodeEncodeError for what is no text.
auto join_names(const nb::list& texts) {
  OwnedNames names;
  names.offsets.reserve(texts.size() + 1);
  for (const nb::handle text : texts) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    names.push_back({data, static_cast<std::size_t>(size)});
  }
  return to_pair(std::move(names));
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

using Numbers = Column<std::int64_t>;
using Names = std::pair<Numbers, Column<std::uint8_t>>;  // offsets, and what they cut

struct CallerNumbers {
  std::span<const std::int64_t> numbers;

  std::span<const std::int64_t> column() const { return numbers; }
  std::size_t size() const { return numbers.size(); }
};

CallerNumbers to_keys(const Numbers& keys) {
  return {to_span(keys)};
}
CallerNames to_keys(const Names& keys) {
  return to_names(keys.first, keys.second);
}

// What find(keys, out) gives for the keys of a caller.
template <class Keys, class Find>
auto look_up(const Keys& given, const Find& find) {
  const auto keys = to_keys(given);
  return make_array<NodeId>(keys.size(), [&](std::span<NodeId> out) { find(keys.column(), out); });
}

auto to_external_names(const NodeIds& ids, const Numbers& nodes) {
  return to_pair(without_gil([&] { return ids.to_external_names(to_span(nodes)); }));
}

// The calls that take keys of one kind.
template <class Keys>
void bind_lookups(nb::class_<NodeIds>& cls) {
  cls.def(
         "to_internal",
         [](const NodeIds& ids, const Keys& given) {
           return look_up(given, [&](const auto&... all) { ids.to_internal(all...); });
         },
         "keys"_a)
      .def(
          "find",
          [](const NodeIds& ids, const Keys& given) {
            return look_up(given, [&](const auto&... all) { ids.find(all...); });
          },
          "keys"_a);
}

template <class Items>
auto copy_to_numpy(const Items& items) {
  using Item = typename Items::value_type;
  return to_numpy(std::vector<Item>(items.begin(), items.end()));
}

// What the maps of both kinds of keys have in common.
template <class Map, class Keys>
nb::class_<Map> bind_map(nb::module_& module, const char* name) {
  nb::class_<Map> cls(module, name);
  cls.def(nb::init<>())
      .def("__len__", [](const Map& self) { return self.keys().size(); })
      .def_prop_ro("memory_bytes", &Map::bytes)
      .def(
          "add",
          [](Map& self, const Keys& first, const Keys& second) {
            const auto firsts = to_keys(first);
            const auto seconds = to_keys(second);
            std::vector<NodeId> first_ids(firsts.size()), second_ids(seconds.size());
            without_gil(
                [&] { self.add(firsts.column(), seconds.column(), first_ids, second_ids); });
            return std::pair(to_numpy(std::move(first_ids)), to_numpy(std::move(second_ids)));
          },
          "first"_a, "second"_a)
      .def(
          "find",
          [](const Map& self, const Keys& given) {
            return look_up(given, [&](const auto&... all) { self.find(all...); });
          },
          "keys"_a);
  return cls;
}

}  // namespace

void bind_ids(nb::module_& module) {
  module.def("join_names", &join_names, "texts"_a);
  module.def("split_names", &split_names, "offsets"_a, "bytes"_a);

  nb::class_<NodeIds> cls(module, "NodeIds");
  cls.def(nb::init<const std::shared_ptr<const Graph>&>(), "graph"_a)
      .def(nb::init<const std::shared_ptr<const NodeIdFile>&>(), "file"_a)
      .def(
          "to_external",
          [](const NodeIds& ids, const Numbers& nodes) {
            return make_array<std::int64_t>(nodes.size(), [&](std::span<std::int64_t> out) {
              ids.to_external(to_span(nodes), out);
            });
          },
          "nodes"_a)
      .def("to_external_names", &to_external_names, "nodes"_a);
  bind_lookups<Numbers>(cls);
  bind_lookups<Names>(cls);

  bind_map<NumberMap, Numbers>(module, "NumberMap").def("keys", [](const NumberMap& self) {
    return copy_to_numpy(self.keys());
  });
  bind_map<NameMap, Names>(module, "NameMap").def("keys", [](const NameMap& self) {
    const NameColumn names = self.keys();
    const std::span<const char> bytes = names.bytes;
    return std::pair(copy_to_numpy(names.offsets),
                     to_numpy(std::vector<std::uint8_t>(bytes.begin(), bytes.end())));
  });
}

}  // namespace graphmount::bindings
