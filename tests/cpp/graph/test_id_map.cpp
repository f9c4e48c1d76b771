// Maps of external ids against std::unordered_map, for any number of threads.
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "graphmount/graph/ids/id_map.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

// Keys go in as the two ends of edges: 0 and 1, 2 and 3, ...
template <class Map, class Key, class AsColumn>
std::vector<NodeId> add_pairs(Map& map, const std::vector<Key>& keys, const AsColumn& as_column) {
  std::vector<Key> ends[2];
  for (std::size_t i = 0; i < keys.size(); ++i) ends[i % 2].push_back(keys[i]);
  std::vector<NodeId> outs[2] = {std::vector<NodeId>(ends[0].size(), -7),
                                 std::vector<NodeId>(ends[1].size(), -7)};
  map.add(as_column(ends[0]), as_column(ends[1]), outs[0], outs[1]);
  std::vector<NodeId> out;
  for (std::size_t i = 0; i < keys.size(); ++i) out.push_back(outs[i % 2][i / 2]);
  return out;
}
std::vector<NodeId> add(NumberMap& map, const std::vector<std::int64_t>& keys) {
  return add_pairs(map, keys, [](const auto& ends) { return std::span(ends); });
}
std::vector<NodeId> find(const NumberMap& map, const std::vector<std::int64_t>& keys) {
  std::vector<NodeId> out(keys.size(), -7);
  map.find(keys, out);
  return out;
}
std::vector<NodeId> add(NameMap& map, const std::vector<std::string>& keys) {
  return add_pairs(map, keys, [](const auto& ends) { return Names(ends); });
}
std::vector<NodeId> find(const NameMap& map, const std::vector<std::string>& keys) {
  std::vector<NodeId> out(keys.size(), -7);
  map.find(Names(keys), out);
  return out;
}

// Adds the keys in batches of different sizes and looks them up again.
template <class Map, class Key>
void check_against_twin(const std::vector<Key>& keys, const std::vector<Key>& strangers) {
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    Map map;
    CHECK(find(map, strangers) == std::vector<NodeId>(strangers.size(), -1));
    std::unordered_map<Key, NodeId> twin;
    std::vector<Key> in_order;
    for (std::size_t first = 0, batch = 1; first < keys.size(); first += batch, batch *= 3) {
      const std::vector<Key> some(
          keys.begin() + static_cast<std::ptrdiff_t>(first),
          keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), first + batch)));
      std::vector<NodeId> expected;
      for (const Key& key : some) {
        const auto [place, is_new] = twin.emplace(key, static_cast<NodeId>(twin.size()));
        if (is_new) in_order.push_back(key);
        expected.push_back(place->second);
      }
      CHECK(add(map, some) == expected);
    }
    const auto& all = map.keys();
    CHECK_EQUAL(all.size(), in_order.size());
    for (std::size_t i = 0; i < in_order.size(); ++i) CHECK(all[i] == in_order[i]);
    std::vector<NodeId> expected;
    for (const Key& key : keys) expected.push_back(twin.at(key));
    CHECK(find(map, keys) == expected);
    CHECK(add(map, keys) == expected);  // nothing new
    CHECK_EQUAL(map.keys().size(), in_order.size());
    CHECK(find(map, strangers) == std::vector<NodeId>(strangers.size(), -1));
    CHECK(map.bytes() > 8 * in_order.size());
  }
}

}  // namespace

TEST(numbers_in_the_order_they_appear) {
  NumberMap map;
  CHECK(add(map, {30, -10, 30, 0, -10}) == std::vector<NodeId>({0, 1, 0, 2, 1}));
  CHECK(add(map, {}).empty());
  CHECK(add(map, {INT64_MIN, 0, INT64_MAX}) == std::vector<NodeId>({3, 2, 4}));
  CHECK(find(map, {INT64_MAX, 5, -10}) == std::vector<NodeId>({4, -1, 1}));
  CHECK(std::vector<std::int64_t>(map.keys().begin(), map.keys().end()) ==
        std::vector<std::int64_t>({30, -10, 0, INT64_MIN, INT64_MAX}));
}

TEST(names_in_the_order_they_appear) {
  NameMap map;
  CHECK(map.keys().empty());
  CHECK(add(map, {"b", "a", "b", "a"}) == std::vector<NodeId>({0, 1, 0, 1}));
  CHECK(find(map, {""}) == std::vector<NodeId>({-1}));
  CHECK(add(map, {"", "ba", ""}) == std::vector<NodeId>({2, 3, 2}));
  CHECK(add(map, {std::string(1, '\0'), std::string("a\0", 2)}) == std::vector<NodeId>({4, 5}));
  CHECK(find(map, {"", "a", "ab"}) == std::vector<NodeId>({2, 1, -1}));
}

TEST(a_map_of_only_the_empty_name) {
  NameMap map;
  CHECK(add(map, {"", ""}) == std::vector<NodeId>({0, 0}));
  CHECK_EQUAL(map.keys().size(), 1U);
  CHECK_EQUAL(map.keys()[0], "");
  CHECK(find(map, {"", "x"}) == std::vector<NodeId>({0, -1}));
}

TEST(many_numbers) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> dense, sparse, strided, strangers;
  for (int i = 0; i < 150'000; ++i) {
    dense.push_back(static_cast<std::int64_t>(random() % 100'000) - 50'000);
    sparse.push_back(static_cast<std::int64_t>(random() | 1));
    strided.push_back(static_cast<std::int64_t>(random() % 50'000) << 40);
  }
  for (std::int64_t i = 0; i < 20'000; ++i) strangers.push_back((i + 1) * 1'000'000);
  check_against_twin<NumberMap>(dense, strangers);
  check_against_twin<NumberMap>(sparse, strangers);
  check_against_twin<NumberMap>(strided, strangers);
}

TEST(many_names) {
  std::mt19937_64 random(1);
  std::vector<std::string> keys, strangers;
  for (int i = 0; i < 60'000; ++i) {
    const std::uint64_t number = random() % 40'000;
    keys.push_back(std::string(number % 30, 'x') + std::to_string(number));
  }
  keys[100] = "";
  keys[1000] = std::string(1 << 20, 'y');
  for (int i = 0; i < 20'000; ++i) strangers.push_back("y" + std::to_string(i));
  check_against_twin<NameMap>(keys, strangers);
}

TEST(names_may_be_a_part_of_a_column) {
  const std::vector<std::int64_t> offsets = {2, 3, 3, 6};
  const std::string bytes = "..abcd..";
  NameMap map;
  std::vector<NodeId> out(3);
  map.add({offsets, bytes}, {}, out, {});
  CHECK(out == std::vector<NodeId>({0, 1, 2}));
  CHECK(find(map, {"a", "", "bcd"}) == out);
  CHECK_EQUAL(map.keys().offsets[0], 0);
}
