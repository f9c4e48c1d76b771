// How memory is divided: the parts never exceed the whole, whatever the table and the batches.
#include <algorithm>

#include "check.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/loading/feed_budget.hpp"
#include "graphmount/loading/rows/hot_rows.hpp"
#include "graphmount/loading/rows/row_sweep.hpp"
#include "graphmount/loading/rows/row_window.hpp"

using namespace graphmount;

namespace {

constexpr std::uint64_t kReadBytes = 32768, kLongReadBytes = 131072;

std::uint64_t bytes_of(const FeedNeeds& needs, const FeedBudget& budget) {
  const bool has_ids = needs.sharers > 1 && !needs.hot_is_prefix;
  const std::uint64_t hot_bytes = budget.num_hot * (needs.row_bytes + (has_ids ? 8 : 0));
  const std::uint64_t part = (hot_bytes + needs.sharers - 1) / needs.sharers;
  if (budget.num_hot == needs.num_rows) return part;
  const std::size_t sweep_bytes = RowSweep::bookkeeping_bytes(kReadersPerFeed, budget.chunk_rows);
  const bool has_map = !needs.hot_is_prefix && budget.num_hot > 0;
  return part + budget.num_slots * needs.row_bytes +
         RowWindow::bytes_for(budget.num_slots, needs.num_rows, budget.num_known) +
         (has_map ? HotRows::bytes_for(needs.num_rows) : 0) +
         2 * budget.depth * (budget.has_long_reads ? kLongReadBytes : kReadBytes) + sweep_bytes;
}

FeedNeeds random_needs(std::uint64_t seed) {
  Draws draws{RandomKey(mix_bits(seed))};
  const auto up_to = [&](double most) { return static_cast<std::uint64_t>(draws.unit() * most); };
  FeedNeeds needs;
  needs.num_rows = up_to(1e6);
  needs.row_bytes = 1 + up_to(draws.unit() * 4096);
  const auto size = static_cast<double>(needs.num_rows * needs.row_bytes);
  needs.memory = up_to(draws.unit() * draws.unit() * 1.2 * size);
  needs.hot_is_prefix = draws.unit() < 0.5;
  needs.most_hot = draws.unit() < 0.5 ? UINT64_MAX : up_to(1e6);
  needs.slot_share = draws.unit();
  needs.window = 1 + up_to(62);
  needs.read_bytes = kReadBytes;
  needs.long_read_bytes = draws.unit() < 0.5 ? 0 : kLongReadBytes;
  needs.ranks.resize(up_to(1e5));
  for (std::uint64_t& rank : needs.ranks) rank = up_to(static_cast<double>(needs.num_rows));
  std::sort(needs.ranks.begin(), needs.ranks.end());
  return needs;
}

}  // namespace

TEST(the_parts_are_no_more_than_the_whole) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const FeedNeeds needs = random_needs(seed);
    const FeedBudget budget = divide_memory(needs);
    CHECK(budget.num_hot <= std::min(needs.num_rows, std::max(needs.most_hot, budget.num_hot)));
    CHECK(budget.num_known >= budget.num_slots);
    CHECK(budget.depth >= kLeastDepth);
    const std::uint64_t least_reads = 2 * kLeastDepth * kReadBytes +
                                      RowSweep::bookkeeping_bytes(kReadersPerFeed, kLeastChunkRows);
    const std::uint64_t over = needs.memory / 16 < least_reads ? least_reads : 0;
    CHECK(bytes_of(needs, budget) <= needs.memory + over);
  }
}

TEST(batches_that_are_dense_together_are_swept) {
  FeedNeeds needs{.memory = std::uint64_t{64} << 20,
                  .num_rows = 1 << 20,
                  .row_bytes = 512,
                  .slot_share = 0.3,
                  .window = 16,
                  .read_bytes = kReadBytes,
                  .long_read_bytes = kLongReadBytes,
                  .ranks = {}};
  // A read brings 64 rows, so batches are dense that have, together, one row of 64 that are not
  // hot. Those of a window count if two thirds of each are hot.
  const auto is_swept = [&](std::uint64_t one_of, std::size_t num_hottest = 0) {
    needs.ranks.assign(num_hottest, 0);
    for (std::uint64_t rank = 0; rank < needs.num_rows; rank += one_of) needs.ranks.push_back(rank);
    const FeedBudget budget = divide_memory(needs);
    CHECK(budget.chunk_rows == 0 || budget.num_slots == 0);
    CHECK(bytes_of(needs, budget) <= needs.memory);
    return budget.chunk_rows != 0;
  };
  CHECK(is_swept(8));
  CHECK(is_swept(63));
  CHECK(!is_swept(66));
  CHECK(is_swept(100, 18'000));
  CHECK(!is_swept(100, 16'000));
  CHECK(is_swept(1000, 18'000));
  CHECK(!is_swept(1050, 18'000));
  needs.window = 3;
  CHECK(!is_swept(8));
  needs.window = 4;
  CHECK(is_swept(8));
  CHECK(is_swept(250, 1 << 14));
  CHECK(!is_swept(260, 1 << 14));
  needs.long_read_bytes = 0;
  CHECK(!is_swept(8));
}

TEST(everything_is_hot_if_it_fits) {
  FeedNeeds needs{.memory = 51200, .num_rows = 100, .row_bytes = 512, .ranks = {}};
  CHECK_EQUAL(divide_memory(needs).num_hot, std::uint64_t{100});
  needs.memory = 51199;
  CHECK(divide_memory(needs).num_hot < 100);
}

TEST(memory_is_used) {
  FeedNeeds needs{.memory = std::uint64_t{200} << 20,
                  .num_rows = 1 << 22,
                  .row_bytes = 512,
                  .slot_share = 0.3,
                  .window = 16,
                  .read_bytes = kReadBytes,
                  .ranks = {}};
  for (std::uint64_t i = 0; i < 20000; ++i) needs.ranks.push_back((1 << 19) + i);
  const FeedBudget budget = divide_memory(needs);
  CHECK(budget.num_slots > 0);
  CHECK_EQUAL(budget.depth, 200U);
  CHECK(budget.num_known >= budget.num_slots + 16 * 20000);
  CHECK(bytes_of(needs, budget) > needs.memory - (64 << 10));
}

TEST(there_are_no_more_slots_than_a_window_wants) {
  FeedNeeds needs{.memory = std::uint64_t{200} << 20,
                  .num_rows = 1 << 22,
                  .row_bytes = 512,
                  .slot_share = 0.4,
                  .window = 16,
                  .read_bytes = kReadBytes,
                  .ranks = {}};
  // A batch wants fewer rows the more are hot.
  for (std::uint64_t i = 0; i < 4000; ++i) needs.ranks.push_back(i * i / 8);
  for (const std::uint64_t window : {2, 4, 16}) {
    needs.window = window;
    const FeedBudget budget = divide_memory(needs);
    const auto cold = static_cast<std::uint64_t>(
        needs.ranks.end() -
        std::lower_bound(needs.ranks.begin(), needs.ranks.end(), budget.num_hot));
    CHECK(budget.num_slots > cold);
    CHECK(budget.num_slots <= (cold + cold / 16) * (window + 1));
    CHECK(bytes_of(needs, budget) > needs.memory - (64 << 10));
  }
}

TEST(slots_without_hot_rows_get_it_all) {
  FeedNeeds needs{.memory = std::uint64_t{20} << 20,
                  .num_rows = 1 << 20,
                  .row_bytes = 512,
                  .most_hot = 100,
                  .slot_share = 0.3,
                  .window = 4,
                  .read_bytes = kReadBytes,
                  .ranks = {500, 600, 700}};
  const FeedBudget budget = divide_memory(needs);
  CHECK_EQUAL(budget.num_hot, std::uint64_t{100});
  CHECK(bytes_of(needs, budget) > needs.memory / 10 * 9);
}

TEST(shared_hot_rows_count_by_parts) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    FeedNeeds needs = random_needs(seed);
    const FeedBudget alone = divide_memory(needs);
    needs.sharers = 1 + seed % 5;
    const FeedBudget shared = divide_memory(needs);
    const std::uint64_t over = 2 * kLeastDepth * kReadBytes +
                               RowSweep::bookkeeping_bytes(kReadersPerFeed, kLeastChunkRows);
    CHECK(bytes_of(needs, shared) <= needs.memory + over);
    if (needs.sharers == 1) CHECK_EQUAL(shared.num_hot, alone.num_hot);
    // Who is given the rows counts the same part of them.
    FeedNeeds given = needs;
    given.num_given = shared.num_hot;
    const FeedBudget taken = divide_memory(given);
    CHECK_EQUAL(taken.num_hot, shared.num_hot);
    CHECK(bytes_of(given, taken) <= needs.memory + over);
  }
}
