// Sweeps: each batch gets its rows, whenever it comes in; what batches share is read once; what
// fails is thrown at the one who waits, and can be cleared away.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/loading/rows/row_sweep.hpp"

using namespace graphmount;

namespace {

constexpr std::uint64_t kNumRows = 1000;
constexpr std::size_t kRowBytes = 12;

std::byte byte_of(std::uint64_t row, std::size_t place) {
  return static_cast<std::byte>((row * 0x9E3779B97F4A7C15U >> 40) + place * 31);
}

/// What the readers of a sweep did, and what they shall do.
struct Disk {
  std::atomic<std::uint64_t> rows_read = 0;
  std::atomic<std::uint64_t> bad_row = UINT64_MAX;  // cannot be read
  std::atomic<bool> is_sorted = true;
  std::atomic<bool> is_held_up = false;  // does not come back
  std::atomic<bool> is_reading = false;
};

class DiskReader final : public RowReader {
 public:
  explicit DiskReader(Disk& disk) : disk_(&disk) {}

  void read(std::span<const RowRead> reads) override {
    disk_->is_reading = true;
    while (disk_->is_held_up) std::this_thread::yield();
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (reads[i].row == disk_->bad_row) throw std::runtime_error("the disk is broken");
      if (i > 0 && reads[i - 1].row >= reads[i].row) disk_->is_sorted = false;
      for (std::size_t j = 0; j < kRowBytes; ++j) reads[i].out[j] = byte_of(reads[i].row, j);
    }
    disk_->rows_read += reads.size();
    stats_.rows += reads.size();
  }

 private:
  Disk* disk_;
};

std::unique_ptr<RowSweep> make_sweep(Disk& disk, std::size_t num_threads, std::size_t chunk_rows,
                                     std::size_t segment_bytes = 100) {
  std::vector<std::unique_ptr<RowReader>> readers;
  for (std::size_t i = 0; i < num_threads; ++i)
    readers.push_back(std::make_unique<DiskReader>(disk));
  return std::make_unique<RowSweep>(std::move(readers), kNumRows, kRowBytes, chunk_rows,
                                    segment_bytes);
}

using Rows = std::vector<std::uint64_t>;

Rows random_rows(Draws& draws, double most) {
  std::set<std::uint64_t> rows;
  const auto count = static_cast<std::size_t>(draws.unit() * most);
  for (std::size_t i = 0; i < count; ++i)
    rows.insert(static_cast<std::uint64_t>(draws.unit() * static_cast<double>(kNumRows)));
  return {rows.begin(), rows.end()};
}

void check_swept(const SweptRows& swept, const Rows& rows) {
  CHECK_EQUAL(swept.read_rows + swept.shared_rows, std::uint64_t{rows.size()});
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < kRowBytes; ++j)
      if (swept.row(i)[j] != byte_of(rows[i], j))
        FAIL("row " + std::to_string(rows[i]) + " is wrong");
}

}  // namespace

TEST(batches_get_their_rows) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draws draws{RandomKey(mix_bits(seed))};
    const auto up_to = [&](double most) { return static_cast<std::size_t>(draws.unit() * most); };
    Disk disk;
    const auto sweep = make_sweep(disk, 1 + up_to(3), 1 + up_to(1200), 1 + up_to(2000));
    std::vector<Rows> batches(20);
    for (Rows& rows : batches) rows = random_rows(draws, 900);
    const std::size_t ahead = 1 + up_to(8);
    std::uint64_t num_read = 0;
    std::size_t admitted = 0;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      sweep->set_room(up_to(20'000), draws.unit() < 0.5);
      for (; admitted < std::min(batches.size(), b + ahead); ++admitted)
        sweep->admit(batches[admitted]);
      CHECK_EQUAL(sweep->num_batches(), admitted - b);
      const SweptRows swept = sweep->wait();
      check_swept(swept, batches[b]);
      num_read += swept.read_rows;
      sweep->release();
    }
    CHECK_EQUAL(sweep->batch_bytes(), 0U);
    CHECK_EQUAL(num_read, disk.rows_read.load());
    CHECK_EQUAL(num_read, sweep->stats().rows);
    CHECK(disk.is_sorted);
  }
}

TEST(what_batches_share_is_read_once) {
  Draws draws{RandomKey(7)};
  std::vector<Rows> batches(5);
  std::set<std::uint64_t> all;
  for (Rows& rows : batches) {
    rows = random_rows(draws, 900);
    all.insert(rows.begin(), rows.end());
  }
  Disk disk;
  disk.is_held_up = true;
  const auto sweep = make_sweep(disk, 1, 10);
  // The one thread is held up in the first chunk, so that all others come in together.
  const Rows first = {0};
  sweep->admit(first);
  while (!disk.is_reading) std::this_thread::yield();
  for (const Rows& rows : batches) sweep->admit(rows);
  disk.is_held_up = false;
  check_swept(sweep->wait(), first);
  sweep->release();
  for (const Rows& rows : batches) {
    check_swept(sweep->wait(), rows);
    sweep->release();
  }
  CHECK_EQUAL(disk.rows_read.load(), std::uint64_t{1 + all.size()});
}

TEST(rows_stay_within_their_room) {
  for (const std::size_t num_threads : {1U, 2U})
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Draws draws{RandomKey(mix_bits(seed))};
      Disk disk;
      const std::size_t chunk_rows = 10;
      const auto sweep = make_sweep(disk, num_threads, chunk_rows);
      std::vector<Rows> batches(12);
      std::size_t most = 0;
      for (Rows& rows : batches) {
        rows = random_rows(draws, 900);
        most = std::max(most, rows.size() * kRowBytes);
      }
      const std::size_t room = 3 * most;
      const bool has_spare = seed % 2 == 0;
      sweep->set_room(room, has_spare);
      std::size_t admitted = 0;
      for (std::size_t b = 0; b < batches.size(); ++b) {
        for (; admitted < std::min(batches.size(), b + 8); ++admitted)
          sweep->admit(batches[admitted]);
        sweep->wait();
        // However long nobody comes, the sweep goes no further than it may: all chunks under way
        // may end, with rows of all batches.
        std::this_thread::sleep_for(std::chrono::milliseconds(seed % 3));
        CHECK(sweep->batch_bytes() <=
              room + (has_spare ? batches[b].size() * kRowBytes : 0) +
                  num_threads * chunk_rows * kRowBytes * sweep->num_batches());
        check_swept(sweep->wait(), batches[b]);
        sweep->release();
      }
    }
}

TEST(failures_come_after_what_is_complete) {
  for (const std::size_t num_threads : {1U, 2U}) {
    Disk disk;
    const auto sweep = make_sweep(disk, num_threads, 100);
    const Rows good = {5, 6, 700}, bad = {5, 901}, other = {300};
    sweep->admit(good);
    check_swept(sweep->wait(), good);
    disk.bad_row = 901;
    sweep->admit(bad);
    sweep->admit(other);
    check_swept(sweep->wait(), good);
    sweep->release();
    for (int i = 0; i < 2; ++i)
      CHECK_THROWS_WITH(sweep->wait(), std::runtime_error, "the disk is broken");
    CHECK_THROWS_WITH(sweep->release(), std::logic_error, "not complete");
    sweep->clear();
    CHECK_EQUAL(sweep->num_batches(), 0U);
    CHECK_THROWS_WITH(sweep->wait(), std::logic_error, "no batch");
    disk.bad_row = UINT64_MAX;
    sweep->admit(bad);
    check_swept(sweep->wait(), bad);
  }
}

TEST(a_sweep_ends_at_any_point) {
  Draws draws{RandomKey(3)};
  for (std::size_t count = 0; count < 30; ++count) {
    Disk disk;
    std::vector<Rows> batches(1 + count % 5);
    for (Rows& rows : batches) rows = random_rows(draws, 900);
    const auto sweep = make_sweep(disk, 2, 1 + count * 20);
    for (const Rows& rows : batches) sweep->admit(rows);
    if (count % 3 != 0) {
      sweep->clear();
      for (const Rows& rows : batches) sweep->admit(rows);
    }
    if (count % 2 == 0) check_swept(sweep->wait(), batches.front());
  }
}

TEST(a_wait_can_be_cancelled) {
  Disk disk;
  disk.is_held_up = true;
  const auto sweep = make_sweep(disk, 2, 64);
  const Rows rows = {1, 500};
  sweep->admit(rows);
  std::thread other([&] {
    while (!disk.is_reading) std::this_thread::yield();
    sweep->cancel();
  });
  CHECK_THROWS_WITH(sweep->wait(), std::runtime_error, "cancelled");
  other.join();
  disk.is_held_up = false;
  sweep->clear();
  sweep->admit(rows);
  check_swept(sweep->wait(), rows);
}

TEST(batches_without_rows_are_complete) {
  Disk disk;
  const auto sweep = make_sweep(disk, 2, 64);
  sweep->admit({});
  check_swept(sweep->wait(), {});
  sweep->release();
  CHECK_EQUAL(disk.rows_read.load(), std::uint64_t{0});
}
