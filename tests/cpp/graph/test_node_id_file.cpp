// Files of external ids: a round trip of both kinds, fingerprints of types, and what opening and
// verifying refuse.
#include <functional>
#include <vector>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/node_id_sections.hpp"
#include "graphmount/graph/ids/order_fingerprint.hpp"
#include "graphmount/graph/node_ids.hpp"
#include "graphmount/verify/verify.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kMemory = 64 << 20;

std::shared_ptr<const NodeIdFile> open(const std::filesystem::path& path) {
  return std::make_shared<const NodeIdFile>(MappedFile::open(path));
}

}  // namespace

TEST(numbers_and_names_come_back) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> numbers = {700, -3, 0, 9};
  write_node_id_file(folder / "numbers.gi", {numbers, {}}, 17, kMemory);
  const auto file = open(folder / "numbers.gi");
  CHECK_EQUAL(file->num_nodes(), 4U);
  CHECK_EQUAL(file->mount().header().order, 17U);
  const NodeIds ids(file);
  std::vector<std::int64_t> out(4);
  std::vector<NodeId> nodes = {3, 2, 1, 0};
  ids.to_external(nodes, out);
  CHECK((out == std::vector<std::int64_t>{9, 0, -3, 700}));
  ids.to_internal(out, nodes);
  CHECK((nodes == std::vector<NodeId>{3, 2, 1, 0}));
  CHECK_THROWS_WITH(ids.to_external(std::vector<NodeId>{4}, std::span(out).first(1)), IdError, "4");
  CHECK_EQUAL(verify_file(folder / "numbers.gi", {}).num_problems, 0U);

  const Names names(some_names(5));
  write_node_id_file(folder / "names.gi", {{}, names}, 18, kMemory);
  const NodeIds by_name(open(folder / "names.gi"));
  CHECK(by_name.kind() == NodeIds::Kind::kNames);
  const OwnedNames found = by_name.to_external_names(std::vector<NodeId>{2, 0});
  CHECK_EQUAL(found.column()[0], NameColumn(names)[2]);
  CHECK_EQUAL(verify_file(folder / "names.gi", {}).num_problems, 0U);
  CHECK_THROWS_WITH(write_node_id_file(folder / "none.gi", {}, 1, kMemory), std::invalid_argument,
                    "needs ids");
  const std::vector<std::int64_t> twice = {5, 5};
  CHECK_THROWS_WITH(write_node_id_file(folder / "none.gi", {twice, {}}, 1, kMemory), SourceError,
                    "5");
  CHECK(!std::filesystem::exists(folder / "none.gi"));
}

// More of them than are converted at a time; where 4 bytes are enough, the file is the same.
TEST(numbers_of_four_bytes_make_the_same_file) {
  const TemporaryFolder folder;
  for (const std::size_t count : {1U, 4095U, 4096U, 10'000U}) {
    std::vector<std::uint32_t> narrow(count);
    for (std::size_t i = 0; i < count; ++i) narrow[i] = UINT32_MAX - static_cast<std::uint32_t>(i);
    const std::vector<std::int64_t> numbers(narrow.begin(), narrow.end());
    const ExternalIds ids{.numbers = {}, .names = {}, .narrow_numbers = narrow};
    CHECK_EQUAL(ids.size(), count);
    CHECK_EQUAL(order_fingerprint(ids), order_fingerprint({numbers, {}}));
    write_node_id_file(folder / "narrow.gi", ids, 17, kMemory);
    write_node_id_file(folder / "wide.gi", {numbers, {}}, 17, kMemory);
    CHECK(read_bytes(folder / "narrow.gi") == read_bytes(folder / "wide.gi"));
  }
  const std::vector<std::uint32_t> twice = {7, 3, 7};
  CHECK_THROWS_WITH(
      write_node_id_file(folder / "none.gi", {.numbers = {}, .names = {}, .narrow_numbers = twice},
                         1, kMemory),
      SourceError, "nodes 0 and 2 have the same external id 7");
}

TEST(fingerprints_include_the_type) {
  const std::vector<std::int64_t> numbers = {1, 2};
  const std::uint64_t order = order_fingerprint({numbers, {}});
  CHECK(order != 0);
  CHECK_EQUAL(order_fingerprint({}), 0U);
  CHECK(typed_order("u", 0) != 0);
  CHECK(typed_order("u", 0) != typed_order("v", 0));
  CHECK(typed_order("u", order) != typed_order("u", 0));
  CHECK(typed_order("u", order) != order);
}

TEST(refuses_files_that_are_none) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> numbers = {700, -3, 0, 9};
  write_node_id_file(folder / "ids.gi", {numbers, {}}, 17, kMemory);
  const Bytes good = read_bytes(folder / "ids.gi");
  const auto refused = [&](const std::string& why, const std::function<void(Bytes&)>& damage) {
    Bytes bytes = good;
    damage(bytes);
    repair_header(bytes);
    write_bytes(folder / "ids.gi", bytes);
    CHECK_THROWS_WITH(open(folder / "ids.gi"), FormatError, why);
    CHECK_EQUAL(verify_file(folder / "ids.gi", {}).problems.at(0).section, "header");
  };
  refused("flags of another kind", [](Bytes& b) { put<std::uint64_t>(b, kFlagsAt, 1); });
  refused("wrong size", [](Bytes& b) { put<std::uint64_t>(b, kNumRowsAt, 5); });
  refused("exceeds 2^63", [](Bytes& b) { put<std::uint64_t>(b, kNumRowsAt, INT64_MAX); });
  refused("does not belong", [](Bytes& b) { put<std::uint16_t>(b, EntryAt(0).direction, 1); });
  refused("unknown kind 17", [](Bytes& b) { put<std::uint16_t>(b, EntryAt(0).kind, 17); });
  refused("not complete", [](Bytes& b) { put<std::uint16_t>(b, EntryAt(1).kind, 0x9000); });
  write_bytes(folder / "ids.gi", good);
  CHECK_THROWS_WITH(Graph(folder / "ids.gi"), FormatError, "a file of node ids");
  write_graph(folder / "g.gl", random_edges(1, 3, 5).columns(), {}, {}, {});
  CHECK_THROWS_WITH(open(folder / "g.gl"), FormatError, "not ids of nodes; open it with Graph");
  Bytes damaged = good;  // two nodes of one id, and one that nothing leads to
  const Section ids = *open(folder / "ids.gi")->mount().header().find(SectionKind::kNodeIds);
  put<std::int64_t>(damaged, ids.offset, 9);
  repair_checksums(damaged);
  write_bytes(folder / "ids.gi", damaged);
  CHECK(verify_file(folder / "ids.gi", {}).num_problems > 0);
}
