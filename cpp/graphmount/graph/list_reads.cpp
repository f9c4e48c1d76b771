#include "graphmount/graph/list_reads.hpp"

#include <algorithm>
#include <string>

#include "graphmount/base/error.hpp"
#include "graphmount/base/fetch.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

const Section& section_of(const Graph& graph, SectionKind kind, Direction direction) {
  if (const Section* section = graph.find(kind, direction)) return *section;
  throw MissingDataError(
      graph.mount().file().path(),
      "the lists have no " + std::string(section_name(kind)) + "; compile the graph with them");
}

void require_items(const Section& section, std::uint64_t first, std::uint64_t count) {
  if (first <= section.rows && count <= section.rows - first) return;
  throw IdError(say("section ", section.name(), " has ", section.rows, " items, and not ", count,
                    " from number ", first, " on"));
}

[[noreturn]] void refuse_item(const Graph& graph, const Section& section, std::uint64_t item,
                              const std::string& problem) {
  const std::uint64_t byte = section.offset + item * traits_of(section.dtype).item_bytes;
  graph.refuse(say("section ", section.name(), ", byte ", byte, ": ", problem));
}

template <class Item, class Out>
void copy_items(const Item* items, std::span<Out> out) {
  parallel_for(out.size(), balanced_grain(out.size(), 1 << 16),
               [&](std::size_t begin, std::size_t end) {
                 std::copy(items + begin, items + end, out.data() + begin);
               });
}

/// Throws FormatError for the first of these items that is not in [0, end).
void check_items_below(const Graph& graph, const Section& section, std::uint64_t first,
                       std::span<const std::int64_t> items, std::uint64_t end,
                       const std::string& what) {
  const auto bad = std::find_if(items.begin(), items.end(), [&](std::int64_t item) {
    return static_cast<std::uint64_t>(item) >= end;  // a negative one is huge
  });
  if (bad == items.end()) return;
  refuse_item(graph, section, first + static_cast<std::uint64_t>(bad - items.begin()),
              say(what, " ", *bad, " is not one of ", end));
}

void check_offsets(const Graph& graph, const Section& section, std::uint64_t first,
                   std::span<const std::int64_t> offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::uint64_t item = first + i;
    const std::int64_t least = i == 0 ? 0 : offsets[i - 1];
    const bool is_first = item == 0, is_last = item + 1 == section.rows;
    const auto offset = static_cast<std::uint64_t>(offsets[i]);
    if (offsets[i] >= least && offset <= graph.num_edges() && (!is_first || offset == 0) &&
        (!is_last || offset == graph.num_edges()))
      continue;
    refuse_item(graph, section, item,
                say("offset ", offsets[i], " of list ", item,
                    (i == 0 ? "" : ", after " + std::to_string(least)), ", of ", graph.num_edges(),
                    " edges"));
  }
}

/// Calls check(position, item) for each before it is handed out.
template <class Item, class Out, class Check>
void copy_items_at(const Graph& graph, const Item* items, std::span<const EdgeId> positions,
                   std::span<Out> out, const Check& check) {
  const std::size_t grain = balanced_grain(positions.size(), 1 << 13);
  graph.mount().file().read_guarded([&] {
    parallel_for(positions.size(), grain, [&](std::size_t begin, std::size_t end) {
      // By value: what is written here might else be taken for what a reference leads to.
      for_each_id(
          positions, begin, end, graph.num_edges(), "edge",
          [items, out, check](std::size_t i, EdgeId position) {
            const Item item = read_once(items + position);
            check(position, item);
            out[i] = item;
          },
          [items](EdgeId position) { fetch_line(items + position); });
    });
  });
}

void check_integers(const Graph& graph, const Section& section, std::uint64_t first,
                    std::span<const std::int64_t> items) {
  if (section.kind == SectionKind::kIndptr) check_offsets(graph, section, first, items);
  if (section.kind == SectionKind::kIndices)
    check_items_below(graph, section, first, items, graph.num_neighbors(section.direction),
                      "neighbor");
  if (section.kind == SectionKind::kEdgeIds)
    check_items_below(graph, section, first, items, graph.num_edges(), "edge id");
  if (section.kind == SectionKind::kSourceRows)
    check_items_below(graph, section, first, items, std::uint64_t{1} << 62, "source row");
}

}  // namespace

template <class Item>
std::vector<Item> read_list(const Graph& graph, SectionKind kind, Direction direction,
                            std::uint64_t first, std::uint64_t count) {
  const Section& section = section_of(graph, kind, direction);
  require_items(section, first, count);
  std::vector<Item> items(static_cast<std::size_t>(count));
  graph.mount().file().read_guarded([&] {
    if (section.dtype == DType::kInt32)
      copy_items(graph.mount().data<std::int32_t>(section) + first, std::span(items));
    else
      copy_items(graph.mount().data<Item>(section) + first, std::span(items));
    if constexpr (std::is_integral_v<Item>) check_integers(graph, section, first, items);
  });
  return items;
}

template <class Item>
std::vector<Item> gather_list(const Graph& graph, SectionKind kind, Direction direction,
                              std::span<const EdgeId> positions) {
  std::vector<Item> out(positions.size());
  copy_items_at(graph, graph.mount().data<Item>(section_of(graph, kind, direction)), positions,
                std::span(out), [](EdgeId, Item) {});
  return out;
}

template std::vector<std::int64_t> read_list(const Graph&, SectionKind, Direction, std::uint64_t,
                                             std::uint64_t);
template std::vector<float> read_list(const Graph&, SectionKind, Direction, std::uint64_t,
                                      std::uint64_t);
template std::vector<std::int64_t> gather_list(const Graph&, SectionKind, Direction,
                                               std::span<const EdgeId>);
template std::vector<float> gather_list(const Graph&, SectionKind, Direction,
                                        std::span<const EdgeId>);

const Section& source_rows_of(const Graph& graph) {
  return section_of(graph, SectionKind::kSourceRows, graph.edge_id_direction());
}

void gather_source_rows(const Graph& graph, std::span<const EdgeId> edges,
                        std::span<std::int64_t> out) {
  const Section& section = source_rows_of(graph);
  const auto check = [&](EdgeId edge, std::int64_t row) {
    if (row < 0) [[unlikely]]
      graph.refuse_source_row(section, edge, row);
  };
  graph.mount().with_integers(
      section, [&](const auto* items) { copy_items_at(graph, items, edges, out, check); });
}

}  // namespace graphmount
