// The window of a row cache: that batches get their rows, whatever the slots; that it reads no more
// than it must, against caches that are simulated slowly.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "check.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/loading/rows/row_window.hpp"

using namespace graphmount;

namespace {

constexpr std::size_t kMostRows = 2000;

using Batches = std::vector<std::vector<std::uint64_t>>;

/// Batches of distinct rows, skewed so that some come again and again.
Batches random_batches(std::uint64_t seed, std::size_t count, std::uint64_t num_rows,
                       std::size_t size) {
  Draws draws{RandomKey(mix_bits(seed))};
  Batches batches;
  for (std::size_t b = 0; b < count; ++b) {
    std::set<std::uint64_t> rows;
    for (std::size_t i = 0; i < size; ++i) {
      const double u = draws.unit();
      rows.insert(static_cast<std::uint64_t>(u * u * u * static_cast<double>(num_rows)));
    }
    batches.emplace_back(rows.begin(), rows.end());
  }
  return batches;
}

/// When rows get to their slots: as soon as they are asked for, or as late as possible.
enum class Disk { kEager, kLazy };

/// Runs the batches with slots that really hold rows, two of them under way at a time, checks what
/// each batch gets, and returns how many rows were read.
std::size_t run(const Batches& batches, std::size_t num_slots, std::size_t ahead,
                std::uint64_t block_rows = 1, std::size_t num_known = kMostRows,
                Disk disk = Disk::kLazy, std::uint64_t beside = 0) {
  RowWindow window(num_slots, kMostRows, RowBlocks(512, 512 * block_rows, beside), num_known);
  std::vector<std::uint64_t> slots(num_slots, UINT64_MAX);
  std::array<WindowPlan, 2> plans;
  const auto write_riders = [&](const WindowPlan& plan) {
    for (const Rider& rider : plan.riders) slots[rider.slot] = rider.row;
  };
  const auto finish = [&](std::size_t b) {
    const WindowPlan& plan = plans[b % 2];
    if (disk == Disk::kLazy) write_riders(plan);
    for (const SlotMove& keep : plan.keeps)
      if (window.is_kept(keep.slot, batches[b][keep.place]))
        slots[keep.slot] = batches[b][keep.place];
  };
  std::size_t announced = 0, reads = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    while (announced < std::min(b + ahead, batches.size()) && window.announce(batches[announced]))
      ++announced;
    CHECK(announced > b);
    CHECK_EQUAL(window.num_announced(), static_cast<std::uint64_t>(announced - b));
    WindowPlan& plan = plans[b % 2];
    window.plan(batches[b], plan);
    if (disk == Disk::kEager) write_riders(plan);
    if (b > 0) finish(b - 1);
    std::vector<std::uint64_t> got(batches[b].size(), UINT64_MAX);
    for (const SlotMove& hit : plan.hits) got[hit.place] = slots[hit.slot];
    for (const std::uint32_t place : plan.reads) {
      CHECK_EQUAL(got[place], UINT64_MAX);
      got[place] = batches[b][place];
    }
    CHECK(got == batches[b]);
    CHECK(std::is_sorted(plan.reads.begin(), plan.reads.end()));
    std::set<std::uint64_t> blocks;
    for (const std::uint32_t place : plan.reads)
      for (std::uint64_t block = 0; block <= 2 * beside; ++block)
        blocks.insert(batches[b][place] / block_rows + block);  // moved by `beside`
    for (const Rider& rider : plan.riders) {
      CHECK(blocks.contains(rider.row / block_rows + beside));
      CHECK(!std::binary_search(batches[b].begin(), batches[b].end(), rider.row));
    }
    reads += plan.reads.size();
  }
  return reads;
}

/// Reads of a cache that knows the next `ahead` batches and gives up what is wanted last; a row
/// that none of them wants may go first.
std::size_t slow_reads(const Batches& batches, std::size_t num_slots, std::size_t ahead) {
  std::map<std::uint64_t, std::size_t> cached;  // row, since when
  std::size_t reads = 0;
  const auto next_use = [&](std::uint64_t row, std::size_t after) {
    for (std::size_t b = after + 1; b < std::min(after + ahead, batches.size()); ++b)
      if (std::binary_search(batches[b].begin(), batches[b].end(), row)) return b;
    return std::numeric_limits<std::size_t>::max();
  };
  for (std::size_t b = 0; b < batches.size(); ++b) {
    for (const std::uint64_t row : batches[b]) {
      if (cached.contains(row)) continue;
      ++reads;
      if (cached.size() < num_slots) {
        cached[row] = b;
        continue;
      }
      const auto worst =
          std::max_element(cached.begin(), cached.end(), [&](const auto& one, const auto& other) {
            return next_use(one.first, b) < next_use(other.first, b);
          });
      if (worst == cached.end() || next_use(worst->first, b) < next_use(row, b)) continue;
      cached.erase(worst);
      cached[row] = b;
    }
  }
  return reads;
}

std::size_t distinct_rows(const Batches& batches) {
  std::set<std::uint64_t> rows;
  for (const auto& batch : batches) rows.insert(batch.begin(), batch.end());
  return rows.size();
}

}  // namespace

TEST(batches_get_their_rows) {
  std::vector<Batches> samples;
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    samples.push_back(random_batches(seed, 100, 400, 60));
  std::size_t number = 0;  // each sample meets each option, though not all of them together
  for (const std::size_t num_slots : {0, 1, 2, 10, 50, 150, 1000})
    for (const std::size_t ahead : {1, 2, 8, 63})
      for (const std::uint64_t block_rows : {1, 8, 64})
        for (const std::size_t num_known : {std::size_t{0}, std::size_t{150}, kMostRows})
          for (const Disk disk : {Disk::kEager, Disk::kLazy})
            run(samples[number++ % samples.size()], num_slots, ahead, block_rows, num_known, disk);
}

TEST(with_room_for_all_each_row_is_read_once) {
  const Batches batches = random_batches(1, 100, 400, 60);
  CHECK_EQUAL(run(batches, 400, 1), distinct_rows(batches));
  CHECK_EQUAL(run(batches, 400, 20), distinct_rows(batches));
}

TEST(without_slots_every_row_is_read) {
  const Batches batches = random_batches(2, 30, 400, 60);
  std::size_t all = 0;
  for (const auto& batch : batches) all += batch.size();
  CHECK_EQUAL(run(batches, 0, 8), all);
}

TEST(reads_about_as_much_as_the_slow_twin) {
  for (const std::size_t num_slots : {20, 60, 150}) {
    for (const std::size_t ahead : {2, 8, 32}) {
      std::size_t fast = 0, slow = 0;
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Batches batches = random_batches(seed, 80, 400, 50);
        fast += run(batches, num_slots, ahead);
        slow += slow_reads(batches, num_slots, ahead);
      }
      // They differ in which of the rows that nobody wants goes first.
      CHECK(fast <= slow + slow / 20);
    }
  }
}

TEST(a_longer_look_ahead_reads_less) {
  const Batches batches = random_batches(5, 200, 2000, 150);
  const std::size_t blind = run(batches, 100, 1), some = run(batches, 100, 8),
                    far = run(batches, 100, 32);
  CHECK(some < blind);
  CHECK(far <= some);
}

TEST(misuse_is_refused) {
  RowWindow window(4, 10, RowBlocks(1, 1), 10);
  WindowPlan plan;
  const std::vector<std::uint64_t> rows = {1, 2};
  CHECK_THROWS(window.plan(rows, plan), std::logic_error);
  for (std::uint64_t i = 0; i < RowWindow::kMostBatches; ++i) CHECK(window.announce(rows));
  CHECK(!window.announce(rows));
  const std::vector<std::uint64_t> others = {3};
  CHECK_THROWS(window.plan(others, plan), std::logic_error);
}

TEST(rows_of_a_block_come_along) {
  const Batches batches = random_batches(6, 200, 2000, 150);
  CHECK(run(batches, 400, 32, 8) < run(batches, 400, 32, 1));
  // All that the window wants of a block comes with the first of them.
  RowWindow window(8, 100, RowBlocks(512, 4096), 100);
  const Batches two = {{1, 17}, {2, 7, 8, 19}};
  for (const auto& batch : two) window.announce(batch);
  WindowPlan plan;
  window.plan(two[0], plan);
  std::set<std::uint64_t> riders;
  for (const Rider& rider : plan.riders) riders.insert(rider.row);
  CHECK(riders == std::set<std::uint64_t>{2, 7, 19});
  window.plan(two[1], plan);
  CHECK_EQUAL(plan.hits.size(), std::size_t{3});
  CHECK_EQUAL(plan.reads.size(), std::size_t{1});
}

TEST(rows_of_the_blocks_beside_come_along) {
  const Batches batches = random_batches(9, 200, 2000, 150);
  CHECK(run(batches, 400, 32, 8, kMostRows, Disk::kLazy, 1) < run(batches, 400, 32, 8));
  CHECK(run(batches, 400, 32, 8, kMostRows, Disk::kEager, 2) < run(batches, 400, 32, 8));
  RowWindow window(8, 100, RowBlocks(512, 4096, 1), 100);
  const Batches two = {{17}, {7, 8, 31, 32, 99}};
  for (const auto& batch : two) window.announce(batch);
  WindowPlan plan;
  window.plan(two[0], plan);
  std::set<std::uint64_t> riders;
  for (const Rider& rider : plan.riders) riders.insert(rider.row);
  CHECK(riders == std::set<std::uint64_t>{8, 31});
}

TEST(blocks_and_rows_that_do_not_divide) {
  const auto around = [](std::uint64_t bytes, std::uint64_t row, std::uint64_t beside = 0) {
    return RowBlocks(bytes, 4096, beside).around(row);
  };
  CHECK(around(512, 9) == std::pair(std::uint64_t{8}, std::uint64_t{16}));
  CHECK(around(400, 0) == std::pair(std::uint64_t{0}, std::uint64_t{10}));
  CHECK(around(400, 10) == std::pair(std::uint64_t{0}, std::uint64_t{20}));  // in two blocks
  CHECK(around(400, 11) == std::pair(std::uint64_t{11}, std::uint64_t{20}));
  CHECK(around(5000, 3) == std::pair(std::uint64_t{3}, std::uint64_t{4}));
  CHECK(around(512, 9, 1) == std::pair(std::uint64_t{0}, std::uint64_t{24}));
  CHECK(around(512, 7, 1) == std::pair(std::uint64_t{0}, std::uint64_t{16}));
  CHECK(around(400, 30, 1) == std::pair(std::uint64_t{11}, std::uint64_t{51}));
  CHECK(around(5000, 3, 1) == std::pair(std::uint64_t{3}, std::uint64_t{4}));
}

TEST(bookkeeping_takes_what_was_said) {
  for (const std::size_t num_slots : {0, 1, 50, 400})
    for (const std::size_t num_known : {150, 500, 2000}) {
      const Batches batches = random_batches(7, 50, 2000, 100);
      RowWindow window(num_slots, kMostRows, RowBlocks(512, 4096), num_known);
      const std::size_t bytes = RowWindow::bytes_for(num_slots, kMostRows, num_known);
      WindowPlan plan;
      for (int epoch = 0; epoch < 10; ++epoch) {
        std::size_t announced = 0;
        for (std::size_t b = 0; b < batches.size(); ++b) {
          while (announced < batches.size() && window.announce(batches[announced])) ++announced;
          window.plan(batches[b], plan);
          CHECK(window.bytes() <= bytes);
        }
      }
    }
}

TEST(a_batch_waits_until_there_is_room) {
  RowWindow window(2, 1000, RowBlocks(512, 512), 40);  // a table of 64, a quarter of it empty
  std::vector<std::uint64_t> first(30), second(30);
  std::iota(first.begin(), first.end(), std::uint64_t{0});
  std::iota(second.begin(), second.end(), std::uint64_t{100});
  WindowPlan plan;
  CHECK(window.announce(first));
  CHECK(!window.announce(second));
  CHECK(window.announce(first));  // it knows all of them
  window.plan(first, plan);
  CHECK(!window.announce(second));
  window.plan(first, plan);
  CHECK(window.announce(second));
}
