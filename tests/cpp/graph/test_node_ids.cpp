// External node ids, numbers and names, from both sides.
#include <algorithm>
#include <memory>
#include <random>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/node_ids.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

std::shared_ptr<const Graph> graph_with(const std::filesystem::path& path, const ExternalIds& ids,
                                        std::uint64_t num_nodes) {
  const std::vector<NodeId> src = {0}, dst = {0};
  write_graph(path, {src, dst, std::nullopt, std::nullopt}, ids, {.num_nodes = num_nodes}, {});
  return std::make_shared<Graph>(path);
}

std::vector<NodeId> all_nodes(std::size_t count) {
  std::vector<NodeId> nodes(count);
  for (std::size_t i = 0; i < count; ++i) nodes[i] = static_cast<NodeId>(count - 1 - i);
  return nodes;
}

std::uint64_t section_offset(const Graph& graph, SectionKind kind) {
  return graph.mount().header().find(kind)->offset;
}

}  // namespace

TEST(numbers_go_both_ways) {
  std::mt19937_64 random(5);
  std::vector<std::int64_t> numbers = {INT64_MIN, INT64_MAX, 0, -1};
  while (numbers.size() < 10'000) numbers.push_back(static_cast<std::int64_t>(random()));
  const TemporaryFolder folder;
  const auto graph = graph_with(folder / "g.gl", {numbers, {}}, numbers.size());
  const NodeIds ids(graph);
  CHECK(ids.kind() == NodeIds::Kind::kNumbers);
  const auto nodes = all_nodes(numbers.size());
  std::vector<std::int64_t> external(nodes.size()), internal(nodes.size());
  ids.to_external(nodes, external);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    CHECK_EQUAL(external[i], numbers[static_cast<std::size_t>(nodes[i])]);
  ids.to_internal(external, internal);
  CHECK(internal == nodes);
}

TEST(names_go_both_ways) {
  std::vector<std::string> names = {
      "", "b", "a", "ab", std::string("a\0b", 3), "Kn\xC3\xB6", "B", std::string(5000, 'x')};
  for (int i = 0; i < 5000; ++i) names.push_back("node " + std::to_string(i));
  const TemporaryFolder folder;
  const auto graph = graph_with(folder / "g.gl", {{}, Names(names)}, names.size());
  const NodeIds ids(graph);
  CHECK(ids.kind() == NodeIds::Kind::kNames);
  const auto nodes = all_nodes(names.size());
  const auto external = ids.to_external_names(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    CHECK_EQUAL(external.column()[i], names[static_cast<std::size_t>(nodes[i])]);
  std::vector<NodeId> internal(nodes.size());
  ids.to_internal(external.column(), internal);
  CHECK(internal == nodes);
}

TEST(refuses_ids_that_are_not_unique) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> numbers = {7, 8, 7};
  CHECK_THROWS_WITH(graph_with(folder / "g.gl", {numbers, {}}, 3), SourceError,
                    "nodes 0 and 2 have the same external id 7");
  CHECK_THROWS_WITH(graph_with(folder / "g.gl", {{}, Names{"x", "y", "y"}}, 3), SourceError,
                    "nodes 1 and 2 have the same external id 'y'");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST(names_ids_that_do_not_exist) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> numbers = {10, 30, 20};
  const NodeIds ids(graph_with(folder / "g.gl", {numbers, {}}, 3));
  std::vector<std::int64_t> out(2);
  CHECK_THROWS_WITH(ids.to_internal(std::vector<std::int64_t>{10, 25}, out), IdError,
                    "no node has the external id 25 (at position 1)");
  CHECK_THROWS(ids.to_internal(std::vector<std::int64_t>{10, 31}, out), IdError);
  CHECK_THROWS(ids.to_internal(std::vector<std::int64_t>{10, -31}, out), IdError);
  CHECK_THROWS(ids.to_external(std::vector<NodeId>{0, 3}, out), IdError);
  CHECK_THROWS(ids.to_external(std::vector<NodeId>{0, -1}, out), IdError);
  const NodeIds names(graph_with(folder / "n.gl", {{}, Names{"a", "b"}}, 2));
  CHECK_THROWS_WITH(names.to_internal(Names{"a", "c"}, out), IdError,
                    "no node has the external id 'c' (at position 1)");
  CHECK_THROWS(names.to_external_names(std::vector<NodeId>{2}), IdError);
}

TEST(a_graph_without_ids_says_so) {
  const TemporaryFolder folder;
  const auto graph = graph_with(folder / "g.gl", {}, 3);
  CHECK(NodeIds::kind_of(graph->mount()) == NodeIds::Kind::kNone);
  CHECK_THROWS_WITH(NodeIds(graph), MissingDataError, "has no external node ids");
}

TEST(ids_of_the_other_kind_are_missing) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> numbers = {10, 30};
  const NodeIds with_numbers(graph_with(folder / "g.gl", {numbers, {}}, 2));
  const NodeIds with_names(graph_with(folder / "n.gl", {{}, Names{"a", "b"}}, 2));
  std::vector<std::int64_t> out(1);
  const std::vector<NodeId> nodes = {1};
  CHECK_THROWS(with_numbers.to_external_names(nodes), MissingDataError);
  CHECK_THROWS(with_numbers.to_internal(Names{"a"}, out), MissingDataError);
  CHECK_THROWS(with_names.to_external(nodes, out), MissingDataError);
  CHECK_THROWS(with_names.to_internal(std::vector<std::int64_t>{10}, out), MissingDataError);
}

TEST(damage_is_an_error_of_the_call_that_meets_it) {
  const TemporaryFolder folder;
  const auto path = folder / "n.gl";
  const auto graph = graph_with(path, {{}, Names{"a", "bb", "ccc"}}, 3);
  const Bytes good = read_bytes(path);
  std::vector<std::int64_t> out(1);

  Bytes bad = good;
  const auto offsets = section_offset(*graph, SectionKind::kNodeNameOffsets);
  put<std::int64_t>(bad, offsets + 8, -5);
  put<std::int64_t>(bad, offsets + 24, 1'000'000);
  write_bytes(path, bad);
  const NodeIds ids(std::make_shared<Graph>(path));
  for (const NodeId node : {0, 1, 2})
    CHECK_THROWS_WITH(ids.to_external_names(std::vector<NodeId>{node}), FormatError, "damaged");
  CHECK_THROWS(ids.to_internal(Names{"bb"}, out), FormatError);

  bad = good;
  for (std::uint64_t slot = 0; slot < 4; ++slot)
    put<std::int32_t>(bad, section_offset(*graph, SectionKind::kNodeIdTable) + 4 * slot, 3);
  write_bytes(path, bad);
  const NodeIds table(std::make_shared<Graph>(path));
  CHECK_THROWS_WITH(table.to_internal(Names{"bb"}, out), FormatError, "names node 3");
}
