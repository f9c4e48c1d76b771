// Bindings of graphs that many processes compile: cuts of edges, lists of a range of nodes, and the
// file that is written of all lists.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "convert/arrays.hpp"
#include "convert/given_ids.hpp"
#include "convert/words.hpp"
#include "graphmount/compile/hot_order.hpp"
#include "graphmount/compile/parts/entry_cut.hpp"
#include "graphmount/compile/parts/joined_graph.hpp"
#include "graphmount/compile/parts/list_part.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

using AnyArray = nb::ndarray<nb::numpy>;
using Ends = Copied<std::uint64_t>;

// Entries as Python has them: owner and neighbor of each, one behind the other, and the other parts
// that they have. Ids and rows are uint32 where all fit, else int64.
using Entries = std::tuple<AnyIds, std::optional<AnyIds>, std::optional<Column<float>>,
                           std::optional<IdColumn>>;
using MadeEntries =
    std::tuple<AnyArray, std::optional<AnyArray>, std::optional<AnyArray>, std::optional<AnyArray>>;
// Offsets, neighbors, rows, weights and times of lists.
using GivenLists =
    std::tuple<Copied<std::int64_t>, nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>,
               std::optional<IdColumn>, std::optional<Column<float>>, std::optional<IdColumn>>;
using MadeLists = std::tuple<AnyArray, AnyArray, std::optional<AnyArray>, std::optional<AnyArray>,
                             std::optional<AnyArray>>;

template <class Item>
AnyArray copy_part(const EdgePiece& piece, std::size_t part, std::size_t items) {
  std::vector<Item> out(items * piece.count);
  piece.copy(part, 0, piece.count, items * sizeof(Item), reinterpret_cast<std::byte*>(out.data()));
  return to_numpy(std::move(out), 1, items * piece.count, 1, nb::dtype<Item>());
}

MadeEntries to_python(const EdgePiece& piece, bool has_narrow_rows) {
  using Part = EntryPart;
  MadeEntries made;
  std::get<0>(made) = piece.item_bytes[Part::kPairs] == sizeof(NarrowPair)
                          ? copy_part<std::uint32_t>(piece, Part::kPairs, 2)
                          : copy_part<std::int64_t>(piece, Part::kPairs, 2);
  if (piece.item_bytes[Part::kRows] != 0)
    std::get<1>(made) = has_narrow_rows ? copy_part<std::uint32_t>(piece, Part::kRows, 1)
                                        : copy_part<std::int64_t>(piece, Part::kRows, 1);
  if (piece.item_bytes[Part::kWeights] != 0)
    std::get<2>(made) = copy_part<float>(piece, Part::kWeights, 1);
  if (piece.item_bytes[Part::kTimes] != 0)
    std::get<3>(made) = copy_part<std::int64_t>(piece, Part::kTimes, 1);
  return made;
}

std::vector<MadeEntries> to_python(const EdgeBlock& block, std::size_t num_ranges) {
  std::vector<MadeEntries> ranges;
  for (std::size_t i = 0; i < num_ranges; ++i)
    ranges.push_back(to_python(block.piece(i, i + 1), block.largest_row() <= UINT32_MAX));
  return ranges;
}

std::vector<MadeEntries> cut_edges(const IdColumn& src, const IdColumn& dst,
                                   const std::optional<Column<float>>& weights,
                                   const std::optional<IdColumn>& timestamps, Direction direction,
                                   bool undirected, bool drop_self_loops, bool rectangular,
                                   std::uint64_t num_sources, std::uint64_t num_destinations,
                                   std::uint64_t first_row, bool keep_rows, const Ends& ends) {
  EdgeColumns edges{to_span(src), to_span(dst), std::nullopt, std::nullopt};
  if (weights) edges.weights = to_span(*weights);
  if (timestamps) edges.times = to_span(*timestamps);
  const EdgeEnds nodes{num_sources, num_destinations, rectangular};
  const EntryParts parts{keep_rows, weights.has_value(), timestamps.has_value()};
  const EdgeBlock block = without_gil([&] {
    check_edges(edges, nodes, first_row);
    return cut_entries(
        ColumnSource{edges, direction, undirected, drop_self_loops, first_row, nodes}, parts, ends);
  });
  return to_python(block, ends.size());
}

// The lists live as long as the arguments and `offsets`.
NeighborLists to_lists(std::uint64_t first_node, const GivenLists& given,
                       std::vector<std::int64_t>& offsets) {
  const auto& [given_offsets, neighbors, rows, weights, times] = given;
  offsets = given_offsets;
  NeighborLists lists{.first_node = first_node, .offsets = offsets};
  if (neighbors.ndim() != 1) throw std::invalid_argument("neighbors are one column");
  if (neighbors.dtype() == nb::dtype<std::int32_t>())
    lists.narrow_indices = {static_cast<const std::int32_t*>(neighbors.data()), neighbors.size()};
  else if (neighbors.dtype() == nb::dtype<std::int64_t>())
    lists.wide_indices = {static_cast<const std::int64_t*>(neighbors.data()), neighbors.size()};
  else
    throw std::invalid_argument("neighbors are int32 or int64");
  if (rows) lists.rows = to_span(*rows);
  if (weights) lists.weights = to_span(*weights);
  if (times) lists.times = to_span(*times);
  return lists;
}

std::vector<MadeEntries> cut_lists(std::uint64_t first_node, std::uint64_t first_row,
                                   const GivenLists& given, const Ends& ends) {
  std::vector<std::int64_t> offsets;
  const NeighborLists lists = to_lists(first_node, given, offsets);
  const EdgeBlock block = without_gil([&] { return cut_entries(lists, first_row, ends); });
  return to_python(block, ends.size());
}

ListOptions list_options(std::uint64_t num_neighbors, bool rows, bool weights, bool timestamps,
                         Dedup dedup, bool wide_indices) {
  return {.parts = {rows, weights, timestamps},
          .dedup = dedup,
          .wide_indices = wide_indices || num_neighbors > (std::uint64_t{1} << 31),
          .largest_neighbor = num_neighbors == 0 ? 0 : num_neighbors - 1};
}

EdgePiece to_piece(const Entries& entries) {
  const auto& [pairs, rows, weights, times] = entries;
  EdgePiece piece;
  const auto set = [&](std::size_t part, const auto& column, std::size_t items) {
    const auto values = to_span(column);
    if (part == EntryPart::kPairs) piece.count = values.size() / items;
    if (values.size() != piece.count * items)
      throw std::invalid_argument("the parts of entries are not of one length");
    piece.data[part] = reinterpret_cast<const std::byte*>(values.data());
    piece.item_bytes[part] = items * sizeof(values[0]);
  };
  std::visit([&](const auto& column) { set(EntryPart::kPairs, column, 2); }, pairs);
  if (rows) std::visit([&](const auto& column) { set(EntryPart::kRows, column, 1); }, *rows);
  if (weights) set(EntryPart::kWeights, *weights, 1);
  if (times) set(EntryPart::kTimes, *times, 1);
  return piece;
}

// A part that outlives itself in the arrays of its lists.
struct HeldPart {
  std::shared_ptr<ListPart> part;
};

MadeLists build(const HeldPart& self) {
  const NeighborLists lists = without_gil([&] { return self.part->build(); });
  const auto view = [&](auto values) {
    using Item = std::remove_const_t<typename decltype(values)::element_type>;
    const auto [owned, owner] = to_owned(self.part);
    const std::size_t shape[1] = {values.size()};
    return AnyArray(const_cast<Item*>(values.data()), 1, shape, owner, nullptr, nb::dtype<Item>());
  };
  const auto view_some = [&](auto values) {
    return values.empty() ? std::nullopt : std::optional(view(values));
  };
  return {view(lists.offsets),
          lists.wide_indices.empty() ? view(lists.narrow_indices) : view(lists.wide_indices),
          view_some(lists.rows), view_some(lists.weights), view_some(lists.times)};
}

void count_neighbors(
    const AnyIds& pairs,
    nb::ndarray<std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& counts) {
  const EdgePiece piece = to_piece({pairs, std::nullopt, std::nullopt, std::nullopt});
  const GilRelease release;
  add_appearances(piece, {counts.data(), counts.size()});
}

nb::object hot_ids_of_counts(const Copied<std::uint32_t>& counts, bool wide) {
  return make_ids(counts.size(), wide, [&](auto ids) { rank_by_count(counts, ids); });
}

// Closed, it is gone, and so is a file that is not finished.
struct JoinedFile {
  std::optional<AnyIds> numbers;
  std::optional<NameColumns> names;
  GivenIds given;
  std::unique_ptr<JoinedGraph> graph;

  JoinedGraph& open() const {
    if (graph == nullptr) throw std::invalid_argument("the graph has been written already");
    return *graph;
  }
};

void make_joined(JoinedFile* self, const std::filesystem::path& path, std::uint64_t num_nodes,
                 bool rectangular, std::uint64_t num_sources, std::uint64_t num_edges,
                 std::uint64_t num_rows, bool in_lists, bool out_lists, bool undirected,
                 bool weights, bool timestamps, bool wide_indices, bool keep_source_rows,
                 std::uint64_t memory, const std::optional<AnyIds>& node_numbers,
                 const std::optional<NameColumns>& node_names) {
  auto* const made = new (self) JoinedFile{node_numbers, node_names, {}, nullptr};
  try {
    made->given = to_ids(made->numbers, made->names);
    const GraphOptions options{.num_nodes = num_nodes,
                               .rectangular = rectangular,
                               .num_sources = num_sources,
                               .in_lists = in_lists,
                               .out_lists = out_lists,
                               .undirected = undirected,
                               .has_weights = weights,
                               .has_times = timestamps,
                               .wide_indices = wide_indices,
                               .keep_source_rows = keep_source_rows,
                               .memory = memory};
    const GraphCounts counts{num_sources, num_nodes, num_edges, num_rows};
    made->graph = without_gil(
        [&] { return std::make_unique<JoinedGraph>(path, options, counts, made->given.ids); });
  } catch (...) {
    made->~JoinedFile();
    throw;
  }
}

void append(const JoinedFile& self, std::uint64_t first_node, const GivenLists& given) {
  std::vector<std::int64_t> offsets;
  const NeighborLists lists = to_lists(first_node, given, offsets);
  const GilRelease release;
  self.open().append(lists);
}

}  // namespace

void bind_parts(nb::module_& module) {
  module.def("cut_edges", &cut_edges, "src"_a, "dst"_a, nb::kw_only(), "weights"_a.none(),
             "timestamps"_a.none(), "direction"_a, "undirected"_a, "drop_self_loops"_a,
             "rectangular"_a, "num_sources"_a, "num_destinations"_a, "first_row"_a, "keep_rows"_a,
             "ends"_a);
  module.def("cut_lists", &cut_lists, "first_node"_a, "first_row"_a, "lists"_a, nb::kw_only(),
             "ends"_a);
  module.def("count_neighbors", &count_neighbors, "pairs"_a, "counts"_a.noconvert());
  module.def("hot_ids_of_counts", &hot_ids_of_counts, "counts"_a, nb::kw_only(), "wide"_a);
  module.def(
      "part_bytes_per_entry",
      [](bool rows, bool weights, bool timestamps, bool wide_indices) {
        return part_bytes_per_entry(
            list_options(0, rows, weights, timestamps, {Dedup::kKeepAll}, wide_indices));
      },
      nb::kw_only(), "rows"_a, "weights"_a, "timestamps"_a, "wide_indices"_a);
  nb::class_<HeldPart>(module, "ListPart")
      .def(
          "__init__",
          [](HeldPart* self, std::uint64_t first_node, std::uint64_t end_node,
             std::uint64_t num_neighbors, bool rows, bool weights, bool timestamps, Dedup dedup,
             bool wide_indices) {
            new (self) HeldPart{std::make_shared<ListPart>(
                first_node, end_node,
                list_options(num_neighbors, rows, weights, timestamps, dedup, wide_indices))};
          },
          "first_node"_a, "end_node"_a, nb::kw_only(), "num_neighbors"_a, "rows"_a, "weights"_a,
          "timestamps"_a, "dedup"_a, "wide_indices"_a)
      .def(
          "add",
          [](const HeldPart& self, const Entries& entries) {
            const EdgePiece piece = to_piece(entries);
            const GilRelease release;
            self.part->add(piece);
          },
          "entries"_a)
      .def("build", &build);
  nb::class_<JoinedFile>(module, "JoinedGraph")
      .def("__init__", &make_joined, "path"_a, nb::kw_only(), "num_nodes"_a, "rectangular"_a,
           "num_sources"_a, "num_edges"_a, "num_rows"_a, "in_lists"_a, "out_lists"_a,
           "undirected"_a, "weights"_a, "timestamps"_a, "wide_indices"_a, "keep_source_rows"_a,
           "memory"_a, "node_numbers"_a.noconvert().none() = nb::none(),
           "node_names"_a.none() = nb::none())
      .def("append", &append, "first_node"_a, "lists"_a)
      .def("begin_second", [](const JoinedFile& self) { self.open().begin_second(); })
      .def("finish",
           [](JoinedFile& self) {
             const std::uint64_t bytes = without_gil([&] { return self.open().finish(); });
             self.graph.reset();
             return bytes;
           })
      .def("close", [](JoinedFile& self) {
        const ClosingRelease release;
        self.graph.reset();
      });
}

}  // namespace graphmount::bindings
