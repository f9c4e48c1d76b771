// The check of ids: the first bad one is named, with its place and what would be allowed.
#include <cstdint>
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
