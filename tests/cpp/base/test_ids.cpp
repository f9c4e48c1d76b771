// The check of ids: the first bad one is named, with its place and what would be allowed.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"

using namespace graphmount;

namespace {

void require(const std::vector<std::int64_t>& ids, std::uint64_t count) {
  require_ids(ids, count, "node");
}

}  // namespace

TEST(accepts_what_exists) {
  require({}, 0);
  require({}, 5);
  require({0, 4, 4, 2}, 5);
  require({INT64_MAX - 1}, INT64_MAX);
}

TEST(names_the_first_that_does_not) {
  CHECK_THROWS_WITH(require({0, 5, -1}, 5), IdError,
                    "node 5 (at position 1) does not exist: nodes are numbered from 0 to 4");
  CHECK_THROWS_WITH(require({-1}, 5), IdError, "node -1 (at position 0)");
  CHECK_THROWS_WITH(require({INT64_MIN}, INT64_MAX), IdError, "node -9223372036854775808");
  CHECK_THROWS_WITH(require({INT64_MAX}, INT64_MAX), IdError, "9223372036854775807");
  CHECK_THROWS_WITH(require({0}, 0), IdError, "there are no nodes");
}

TEST(each_id_is_fetched_before_it_is_used) {
  std::vector<std::int64_t> ids(1000);
  std::iota(ids.rbegin(), ids.rend(), 0);
  for (const std::size_t ahead : {0, 1, 7, 128, 5000})
    for (const std::size_t begin : {0, 3, 999, 1000})
      for (const bool in_blocks : {false, true}) {
        std::vector<std::int64_t> fetched, used;
        const auto use = [&](std::size_t place, std::int64_t id) {
          CHECK(ids[place] == id);
          used.push_back(id);
          CHECK(fetched.size() >= used.size());
        };
        const auto fetch = [&](std::int64_t id) { fetched.push_back(id); };
        if (in_blocks)
          for_each_id_in_blocks(ids, begin, ids.size(), ids.size(), "node", use, fetch, ahead);
        else
          for_each_id(ids, begin, ids.size(), ids.size(), "node", use, fetch, ahead);
        CHECK(used == std::vector(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end()));
        CHECK(fetched == used);
      }
}

TEST(no_id_is_fetched_or_used_that_was_not_checked) {
  for (const std::size_t bad : {0, 127, 128, 129, 999}) {
    std::vector<std::int64_t> ids(1000, 4);
    ids[bad] = 5;
    const auto use = [](std::size_t, std::int64_t id) { CHECK(id == 4); };
    const auto fetch = [](std::int64_t id) { CHECK(id == 4); };
    const std::string problem = "node 5 (at position " + std::to_string(bad) + ")";
    CHECK_THROWS_WITH(for_each_id(ids, 0, ids.size(), 5, "node", use, fetch), IdError, problem);
    CHECK_THROWS_WITH(for_each_id_in_blocks(ids, 0, ids.size(), 5, "node", use, fetch, 128),
                      IdError, problem);
  }
}
