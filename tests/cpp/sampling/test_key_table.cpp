// The table of keys: first occurrences, against a map; memory that is used again.
#include <map>
#include <vector>

#include "check.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/sampling/neighbors/key_table.hpp"

using namespace graphmount;

namespace {

/// Gives the keys their places as numbers, and checks each against a map.
void check_numbers(KeyTable& table, const std::vector<std::uint64_t>& keys) {
  table.clear();
  std::map<std::uint64_t, std::uint32_t> expected;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    table.prefetch(keys[i]);
    CHECK_EQUAL(table.number_of({keys[i], number}),
                expected.try_emplace(keys[i], number).first->second);
  }
  for (const auto& [key, number] : expected) CHECK_EQUAL(table.find(key).value(), number);
  CHECK(!table.find(0xFFFF'FFFF'FFFF'0000).has_value());
}

}  // namespace

TEST(first_occurrences) {
  KeyTable table;
  Draws draws{RandomKey(3)};
  for (const std::uint64_t range : {1, 10, 5000, 1'000'000}) {
    std::vector<std::uint64_t> keys;
    for (int i = 0; i < 100'000; ++i) keys.push_back(draws.below(range));
    check_numbers(table, keys);
    check_numbers(table, {});
    check_numbers(table, {5, 5, 7, 5, 0, 0});
  }
}

TEST(keys_with_a_pattern) {
  KeyTable table;
  for (const std::uint64_t stride :
       {std::uint64_t{1}, std::uint64_t{1} << 32, std::uint64_t{4096}, std::uint64_t{1} << 59}) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 30'000; ++i) keys.push_back(i * stride);
    check_numbers(table, keys);
  }
}

TEST(memory_is_used_again) {
  KeyTable table;
  std::vector<std::uint64_t> keys(50'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  check_numbers(table, keys);
  const std::size_t bytes = table.bytes();
  for (int i = 0; i < 5; ++i) check_numbers(table, keys);
  CHECK_EQUAL(table.bytes(), bytes);
}
