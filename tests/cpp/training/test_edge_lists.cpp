// Lists of edges: what is refused, turning round, and edges of nodes to themselves.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/training/edge_lists.hpp"

using namespace graphmount;

namespace {

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST(turned_round_twice_they_are_as_before) {
  Draws draws{RandomKey(1)};
  for (std::uint64_t rows = 1; rows < 20; ++rows) {
    Ids starts{0}, others;
    for (int list = 0; list < 15; ++list) {
      for (std::uint64_t i = draws.below(6); i > 0; --i)
        others.push_back(static_cast<std::int64_t>(draws.below(rows)));
      starts.push_back(static_cast<std::int64_t>(others.size()));
    }
    Ids turned(rows + 1), owners(others.size()), places(others.size());
    turn_round({starts, others, rows}, turned, owners, places);
    CHECK_EQUAL(turned.back(), static_cast<std::int64_t>(others.size()));
    for (std::size_t row = 0; row < rows; ++row) {
      for (auto at = static_cast<std::size_t>(turned[row]);
           at < static_cast<std::size_t>(turned[row + 1]); ++at) {
        const auto place = static_cast<std::size_t>(places[at]);
        const auto owner = static_cast<std::size_t>(owners[at]);
        CHECK_EQUAL(others[place], static_cast<std::int64_t>(row));
        CHECK(starts[owner] <= places[at] && places[at] < starts[owner + 1]);
        CHECK(at == static_cast<std::size_t>(turned[row]) || places[at - 1] < places[at]);
      }
    }
  }
}

TEST(self_loops_stand_first_and_once) {
  const Ids starts{0, 3, 3, 4}, others{0, 4, 0, 1};
  Ids new_starts(4), new_others(7);
  CHECK_EQUAL(add_self_loops({starts, others, 5}, new_starts, new_others), std::size_t{5});
  CHECK(new_starts == (Ids{0, 2, 3, 5}));
  new_others.resize(5);
  CHECK(new_others == (Ids{0, 4, 1, 2, 1}));
}

TEST(wrong_lists_are_refused) {
  const Ids one{0};
  Ids starts(2), owners(1), places(1);
  CHECK_THROWS(EdgeLists({}, one, 1), std::invalid_argument);
  CHECK_THROWS(turn_round({Ids{0, 1}, Ids{1}, 1}, starts, owners, places), IdError);
  CHECK_THROWS(turn_round({Ids{0, 1}, Ids{-1}, 1}, starts, owners, places), IdError);
  CHECK_THROWS(turn_round({Ids{0, 2}, one, 1}, starts, owners, places), std::invalid_argument);
  CHECK_THROWS(turn_round({Ids{1, 1}, one, 1}, starts, owners, places), std::invalid_argument);
  CHECK_THROWS(turn_round({Ids{0, 1, 0}, one, 1}, starts, owners, places), std::invalid_argument);
  CHECK_THROWS(turn_round({Ids{0, 0}, one, 1}, starts, owners, places), std::invalid_argument);
  CHECK_THROWS(turn_round({Ids{0, 1}, one, 2}, starts, owners, places), std::invalid_argument);
  CHECK_THROWS(turn_round({Ids{0, 1}, one, ~std::uint64_t{0}}, {}, owners, places),
               std::invalid_argument);
  Ids others(3);
  Ids more(3);
  CHECK_THROWS(add_self_loops({Ids{0, 1, 1}, one, 1}, more, others), std::invalid_argument);
  CHECK_THROWS(add_self_loops({Ids{0, 1}, one, 1}, starts, others), std::invalid_argument);
  // The same entries in two lists would need more room than there is.
  CHECK_THROWS(add_self_loops({Ids{0, 1, 0}, one, 2}, more, others), std::invalid_argument);
}
