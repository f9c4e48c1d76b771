// Bindings of the maps from keys to node ids.
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "graphmount/graph/ids/id_map.hpp"
#include "names.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using Numbers = Column<std::int64_t>;
using Bytes = Column<std::uint8_t>;
using Names = std::pair<Numbers, Bytes>;  // offsets, and what they cut

template <class Items>
auto copy_to_numpy(const Items& items) {
  using Item = typename Items::value_type;
  return to_numpy(std::vector<Item>(items.begin(), items.end()));
}

}  // namespace

void bind_id_maps(nb::module_& module) {
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

}  // namespace graphmount::bindings
