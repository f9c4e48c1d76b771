// Numbering: first occurrences, against a map; memory that is used again.
#include <algorithm>
#include <map>
#include <vector>

#include "check.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/sampling/neighbors/node_numbering.hpp"

using namespace graphmount;

namespace {

/// Numbers the keys partition by partition, and checks each against a map.
void check_numbering(NodeNumbering& numbering, const std::vector<std::uint64_t>& keys) {
  numbering.clear();
  std::vector<std::uint32_t> first(keys.size(), UINT32_MAX);
  // In two rounds, as two hops would have it.
  for (const auto& [begin, end] :
       {std::pair(std::size_t{0}, keys.size() / 3), std::pair(keys.size() / 3, keys.size())}) {
    std::vector<std::vector<NumberedKey>> entries(NodeNumbering::kPartitions);
    for (std::size_t i = begin; i < end; ++i)
      entries[NodeNumbering::partition_of(keys[i])].push_back(
          {keys[i], static_cast<std::uint32_t>(i)});
    for (std::size_t p = entries.size(); p-- > 0;) numbering.number(p, entries[p], first.data());
  }
  std::map<std::uint64_t, std::uint32_t> expected;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    expected.try_emplace(keys[i], static_cast<std::uint32_t>(i));
    CHECK_EQUAL(first[i], expected[keys[i]]);
  }
  for (const auto& [key, item] : expected) CHECK_EQUAL(numbering.find(key).value(), item);
  CHECK(!numbering.find(0xFFFF'FFFF'FFFF'0000).has_value());
}

}  // namespace

TEST(first_occurrences) {
  NodeNumbering numbering;
  Draws draws{RandomKey(3)};
  for (const std::uint64_t range : {1, 10, 5000, 1'000'000}) {
    std::vector<std::uint64_t> keys;
    for (int i = 0; i < 100'000; ++i) keys.push_back(draws.below(range));
    check_numbering(numbering, keys);
    check_numbering(numbering, {});
    check_numbering(numbering, {5, 5, 7, 5, 0, 0});
  }
}

TEST(keys_with_a_pattern) {
  NodeNumbering numbering;
  for (const std::uint64_t stride :
       {std::uint64_t{1}, std::uint64_t{1} << 32, std::uint64_t{4096}, std::uint64_t{1} << 59}) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 30'000; ++i) keys.push_back(i * stride);
    check_numbering(numbering, keys);
  }
}

TEST(memory_is_used_again) {
  NodeNumbering numbering;
  std::vector<std::uint64_t> keys(50'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  check_numbering(numbering, keys);
  const std::size_t bytes = numbering.bytes();
  for (int i = 0; i < 5; ++i) check_numbering(numbering, keys);
  CHECK_EQUAL(numbering.bytes(), bytes);
}
