// Threads that read for several tables: every read is done once, failures go to their own table,
// and a table may end while others read.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "graphmount/loading/rows/read_threads.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

/// Counts, takes its time, and fails if it is told to.
class SlowReader final : public RowReader {
 public:
  SlowReader(std::atomic<int>& count, bool fails) : count_(count), fails_(fails) {}

  void read(std::span<const RowRead> reads) override {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (fails_) throw std::runtime_error("no such disk");
    stats_.rows += reads.size();
    ++count_;
  }

 private:
  std::atomic<int>& count_;
  bool fails_;
};

}  // namespace

TEST(tables_share_few_threads) {
  for (const std::size_t num_threads : {0U, 1U, 2U, 5U}) {
    std::atomic<int> count = 0;
    const auto threads = std::make_shared<ReadThreads>(num_threads);
    std::vector<std::unique_ptr<TableReads>> tables;
    for (int i = 0; i < 7; ++i)
      tables.push_back(
          std::make_unique<TableReads>(std::make_unique<SlowReader>(count, i == 3), threads));
    const std::vector<RowRead> reads(4);
    for (int round = 1; round <= 5; ++round) {
      for (const auto& table : tables) table->start(reads);
      for (std::size_t i = 0; i < tables.size(); ++i) {
        if (i == 3) {
          CHECK_THROWS_WITH(tables[i]->wait(), std::runtime_error, "no such disk");
          tables[i]->wait();  // said once
        } else {
          tables[i]->wait();
          CHECK_EQUAL(tables[i]->stats().rows, static_cast<std::uint64_t>(4 * round));
        }
      }
      CHECK_EQUAL(count.load(), 6 * round);
    }
    tables.front()->start({});  // nothing to wait for
    tables.front()->wait();
  }
}

TEST(a_table_ends_when_its_read_is_done) {
  std::atomic<int> count = 0;
  auto threads = std::make_shared<ReadThreads>(1);
  const std::vector<RowRead> reads(1);
  {
    TableReads first(std::make_unique<SlowReader>(count, false), threads);
    TableReads second(std::make_unique<SlowReader>(count, false), threads);
    threads.reset();  // the tables hold them
    first.start(reads);
    second.start(reads);
  }
  CHECK_EQUAL(count.load(), 2);
}
