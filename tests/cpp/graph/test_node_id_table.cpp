// The hash table of external ids: as the specification says, whatever the slices; found in a file.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <random>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/ids/node_id_table.hpp"
#include "graphmount/graph/node_ids.hpp"
#include "graphmount/verify/verify.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 5, 3072, 3073, 4095, 4096, 5000, 200'000};
constexpr std::uint64_t kOneGroup = 4096 * 8;  // memory for slices of a single group of int32

// The number whose hash this is: each step of hash_number can be undone.
std::int64_t unhash(std::uint64_t x) {
  x = x ^ (x >> 31) ^ (x >> 62);
  x *= 0x3196'42B2'D24D'8EC3;
  x = x ^ (x >> 27) ^ (x >> 54);
  x *= 0x96DE'1B17'3F11'9089;
  x = x ^ (x >> 30) ^ (x >> 60);
  return static_cast<std::int64_t>(x - 0x9E37'79B9'7F4A'7C15);
}

std::vector<std::int64_t> random_numbers(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::int64_t> numbers = {0, -1, INT64_MIN, INT64_MAX};
  numbers.resize(count);
  for (std::size_t i = 4; i < count; ++i)
    numbers[i] = i % 2 == 0 ? static_cast<std::int64_t>(random()) : static_cast<std::int64_t>(i);
  return numbers;
}

std::vector<std::string> random_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(i == 0 ? "" : std::string(i % 40, 'x') + std::to_string(i));
  return names;
}

template <class Slot = std::int32_t>
std::vector<Slot> build(const ExternalIds& ids, std::uint64_t memory = kTableMemory) {
  const DType dtype = sizeof(Slot) == 4 ? DType::kInt32 : DType::kInt64;
  std::vector<Slot> table;
  build_node_id_table(ids, plan_slots(ids), dtype, memory, [&](std::span<const std::byte> bytes) {
    const std::size_t before = table.size();
    table.resize(before + bytes.size() / sizeof(Slot));
    std::memcpy(table.data() + before, bytes.data(), bytes.size());
  });
  return table;
}

// The table by the words of docs/format.md, one node after the other.
std::vector<std::int32_t> expected_table(const ExternalIds& ids, std::uint64_t slots) {
  std::vector<std::int32_t> table(slots, -1);
  const std::uint64_t group = std::min<std::uint64_t>(slots, 4096);
  for (std::size_t node = 0; node < ids.size(); ++node) {
    const std::uint64_t home = ids.hash(node) % slots;
    std::uint64_t step = 0;
    const auto at = [&] { return home / group * group + (home + step) % group; };
    while (table[at()] != -1) ++step;
    CHECK(step < group);
    table[at()] = static_cast<std::int32_t>(node);
  }
  return table;
}

std::shared_ptr<const Graph> graph_with(const std::filesystem::path& path, const ExternalIds& ids) {
  const std::vector<NodeId> none;
  write_graph(path, {none, none, std::nullopt, std::nullopt}, ids, {}, {});
  return std::make_shared<Graph>(path);
}

void check_file(const ExternalIds& ids) {
  const TemporaryFolder folder;
  const auto graph = graph_with(folder / "g.gl", ids);
  const auto problems = verify_file(folder / "g.gl", {}).problems;
  if (!problems.empty()) FAIL(problems[0].message);
  const NodeIds node_ids(graph);
  std::vector<NodeId> found(ids.size()), shifted(ids.size());
  if (ids.names.empty()) {
    node_ids.to_internal(ids.numbers, found);
    std::vector<std::int64_t> keys(ids.numbers.begin(), ids.numbers.end());
    for (std::int64_t& key : keys) key ^= 0x5555'0000'0000;
    node_ids.find(keys, shifted);
  } else {
    node_ids.to_internal(ids.names, found);
    std::vector<std::string> others;
    for (std::size_t i = 0; i < ids.size(); ++i) others.push_back("y" + std::string(ids.names[i]));
    node_ids.find(Names(others), shifted);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK_EQUAL(found[i], static_cast<NodeId>(i));
  CHECK(std::ranges::all_of(shifted, [](NodeId node) { return node == -1; }));
}

}  // namespace

TEST(hashes_can_be_undone) {
  for (const std::int64_t number : random_numbers(1000))
    CHECK_EQUAL(unhash(hash_number(number)), number);
}

TEST(a_table_is_the_least_that_leaves_a_quarter_empty) {
  for (const std::size_t count : kSizes) {
    const auto numbers = random_numbers(count);
    const std::uint64_t slots = plan_slots({numbers, {}}).count();
    CHECK(std::has_single_bit(slots));
    CHECK(slots * 3 >= count * 4);
    CHECK(slots == 1 || slots / 2 * 3 < count * 4);
  }
  CHECK(slot_dtype(std::uint64_t{1} << 31) == DType::kInt32);
  CHECK(slot_dtype((std::uint64_t{1} << 31) + 1) == DType::kInt64);
}

TEST(tables_are_the_same_whatever_the_slices_and_threads) {
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const std::size_t count : kSizes) {
      const auto numbers = random_numbers(count);
      const Names names = random_names(count);
      for (const ExternalIds& ids : {ExternalIds{numbers, {}}, ExternalIds{{}, names}}) {
        const auto expected = expected_table(ids, plan_slots(ids).count());
        for (const std::uint64_t memory :
             {std::uint64_t{0}, kOneGroup, kOneGroup * 4, kTableMemory})
          CHECK(build(ids, memory) == expected);
        CHECK(std::ranges::equal(build<std::int64_t>(ids), expected));
      }
    }
  }
  set_num_threads(before);
}

TEST(slices_are_whole_groups_that_cover_the_table) {
  for (const std::uint64_t count : {1u, 2u, 4096u, 8192u, 1u << 20}) {
    for (const std::uint64_t most :
         {std::uint64_t{0}, std::uint64_t{5000}, std::uint64_t{1} << 30}) {
      std::uint64_t end = 0;
      for (const SlotRange slice : cut_slots(IdSlots(count), most)) {
        CHECK_EQUAL(slice.begin, end);
        CHECK_EQUAL(slice.begin % 4096, 0u);
        CHECK(slice.end - slice.begin <= std::max<std::uint64_t>(most, 4096));
        end = slice.end;
      }
      CHECK_EQUAL(end, count);
    }
  }
}

TEST(ids_are_found_in_a_file) {
  for (const std::size_t count : kSizes) {
    if (count == 0) continue;
    const auto numbers = random_numbers(count);
    const Names names = random_names(count);
    check_file({numbers, {}});
    check_file({{}, names});
  }
}

TEST(a_group_that_overflows_doubles_the_table) {
  // All in the first of the two groups of 8192 slots; in the first two of four, once doubled.
  std::vector<std::int64_t> numbers;
  for (std::uint64_t i = 0; i < 5000; ++i) numbers.push_back(unhash((i << 13) | (i * 17 % 4096)));
  const ExternalIds ids{numbers, {}};
  CHECK_EQUAL(plan_slots(ids).count(), std::uint64_t{16384});
  CHECK(build(ids) == expected_table(ids, 16384));
  check_file(ids);
  // A full group, in which looking for others goes round once.
  numbers.clear();
  for (std::uint64_t i = 0; i < 4096; ++i) numbers.push_back(unhash((i << 13) | 4095));
  for (std::uint64_t i = 0; i < 900; ++i) numbers.push_back(unhash((i << 13) | 4096));
  CHECK_EQUAL(plan_slots({numbers, {}}).count(), std::uint64_t{8192});
  check_file({numbers, {}});
  const TemporaryFolder folder;
  const NodeIds node_ids(graph_with(folder / "g.gl", {numbers, {}}));
  std::vector<NodeId> found(1);
  node_ids.find(std::vector<std::int64_t>{unhash((std::uint64_t{5000} << 13) | 4095)}, found);
  CHECK_EQUAL(found[0], -1);
}

TEST(ids_that_no_table_can_hold_are_refused) {
  std::vector<std::int64_t> numbers;
  for (std::uint64_t i = 0; i < 5000; ++i) numbers.push_back(unhash(i << 32));
  CHECK_THROWS_WITH(build({numbers, {}}), SourceError, "hashes that are almost equal");
}

TEST(the_first_twins_are_told_of) {
  const std::vector<std::int64_t> few = {7, 8, 7};
  CHECK_THROWS_WITH(build({few, {}}), SourceError,
                    "node_ids: nodes 0 and 2 have the same external id 7");
  CHECK_THROWS_WITH(build({{}, Names{"x", "y", "y", "x"}}), SourceError,
                    "node_ids: nodes 1 and 2 have the same external id 'y'");
  auto many = random_numbers(200'000);
  for (const std::size_t node : {150'000u, 150'001u, 199'999u}) many[node] = many[node - 100'000];
  for (const std::uint64_t memory : {kOneGroup, kTableMemory})
    CHECK_THROWS_WITH(build({many, {}}, memory), SourceError, "nodes 50000 and 150000 have");
  const std::vector<std::int64_t> same(10'000, 3);
  CHECK_THROWS_WITH(build({same, {}}), SourceError, "nodes 0 and 1 have the same external id 3");
}

TEST(damage_to_a_table_is_found_and_does_no_harm) {
  const TemporaryFolder folder;
  const auto path = folder / "g.gl";
  const auto numbers = random_numbers(10'000);
  Section table;
  std::uint64_t ids_at = 0;
  {
    const auto graph = graph_with(path, {numbers, {}});
    table = *graph->mount().header().find(SectionKind::kNodeIdTable);
    ids_at = graph->mount().header().find(SectionKind::kNodeIds)->offset;
  }
  const Bytes good = read_bytes(path);
  const auto check = [&](const std::string& why, const auto& damage) {
    Bytes bad = good;
    damage(bad);
    repair_checksums(bad);
    write_bytes(path, bad);
    const auto problems = verify_file(path, {}).problems;
    if (std::ranges::none_of(problems, [&](const Problem& problem) {
          return problem.message.find(why) != std::string::npos;
        }))
      FAIL("not found: " + why + "; but " + (problems.empty() ? "nothing" : problems[0].message));
    // Each key gives its node or an error, whatever the damage.
    const NodeIds ids(std::make_shared<Graph>(path));
    std::vector<NodeId> found(1);
    for (std::size_t i = 0; i < numbers.size(); i += 7) {
      try {
        ids.find(std::span(numbers).subspan(i, 1), found);
        CHECK(found[0] == -1 || get<std::int64_t>(bad, ids_at + 8 * static_cast<std::uint64_t>(
                                                                        found[0])) == numbers[i]);
      } catch (const FormatError&) {
      }
    }
  };
  const auto slot_at = [&](std::uint64_t slot) { return table.offset + 4 * slot; };
  std::uint64_t used = 0, empty = 0;
  while (get<std::int32_t>(good, slot_at(used)) < 0) ++used;
  while (get<std::int32_t>(good, slot_at(empty)) >= 0) ++empty;
  const auto node = get<std::int32_t>(good, slot_at(used));
  check("node 10000 does not exist", [&](Bytes& b) { put(b, slot_at(used), 10'000); });
  check("node -2 does not exist", [&](Bytes& b) { put(b, slot_at(empty), -2); });
  check("does not exist", [&](Bytes& b) { put(b, slot_at(used), INT32_MIN); });
  check("the external id of node " + std::to_string(node) + " leads here",
        [&](Bytes& b) { put(b, slot_at(used), -1); });
  check("node " + std::to_string(node) + " is not where its external id leads",
        [&](Bytes& b) { put(b, slot_at(empty), node); });
  check("leads here", [&](Bytes& b) { put(b, ids_at + 800, numbers[100] + 1); });
  check("leads here", [&](Bytes& b) {
    std::fill_n(b.begin() + static_cast<std::ptrdiff_t>(table.offset), table.bytes, std::byte{0});
  });
  check("leads here", [&](Bytes& b) {
    std::fill_n(b.begin() + static_cast<std::ptrdiff_t>(table.offset), table.bytes, std::byte{255});
  });
  check("leads here", [&](Bytes& b) {
    const auto begin = b.begin() + static_cast<std::ptrdiff_t>(table.offset);
    std::reverse(begin, begin + static_cast<std::ptrdiff_t>(table.bytes));
  });
  // Two nodes with the same id, both where it leads.
  check("nodes 100 and 7000 have the same external id", [&](Bytes& b) {
    auto twins = numbers;
    twins[7000] = numbers[100];
    put(b, ids_at + 8 * 7000, numbers[100]);
    const auto twin_table = expected_table({twins, {}}, table.rows);
    std::memcpy(b.data() + table.offset, twin_table.data(), table.bytes);
  });
}
