// Random calls of many threads on the same objects: a graph, a matrix, gathering, pipelines and
// their feeds, parallel work, recycled memory. For ThreadSanitizer above all; without it, rows and
// counts are compared with what they must be.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "graphmount/loading/batch_pipeline.hpp"
#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"
#include "graphmount/system/memory/recycler.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/table/reading/gather.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 400;
constexpr std::uint64_t kColumns = 40;
constexpr std::uint64_t kBatchSeeds = 20;
constexpr int kThreads = 6;
constexpr auto kPatience = std::chrono::milliseconds(200);

int calls_of_a_thread() {
  const char* const is_long = std::getenv("GRAPHMOUNT_LONG");
  return is_long != nullptr && std::string(is_long) == "1" ? 3000 : 100;
}

float value_of(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(row * 101 + column);
}

void check_row(std::int64_t row, const std::byte* bytes) {
  std::vector<float> values(kColumns);
  std::memcpy(values.data(), bytes, kColumns * sizeof(float));
  for (std::uint64_t j = 0; j < kColumns; ++j)
    CHECK_EQUAL(values[j], value_of(static_cast<std::uint64_t>(row), j));
}

class Seeds final : public SeedSource {
 public:
  std::uint64_t num_batches() const override { return kNodes / kBatchSeeds; }
  BatchSeeds seeds_of(std::uint64_t batch, RandomKey, Places) const override {
    BatchSeeds seeds;
    for (std::uint64_t i = 0; i < kBatchSeeds; ++i)
      seeds.nodes.push_back(static_cast<NodeId>(batch * kBatchSeeds + i));
    return seeds;
  }
};

std::filesystem::path write_rows(const TemporaryFolder& folder) {
  const auto path = folder / "x.gd";
  FeatureWriter writer(path, {.rows = kNodes, .columns = kColumns});
  std::vector<float> row(kColumns);
  for (std::uint64_t i = 0; i < kNodes; ++i) {
    for (std::uint64_t j = 0; j < kColumns; ++j) row[j] = value_of(i, j);
    writer.append(std::as_bytes(std::span(row)));
  }
  writer.finish();
  return path;
}

std::filesystem::path write_edges(const TemporaryFolder& folder) {
  const auto path = folder / "graph.gl";
  write_graph(path, random_edges(3, kNodes, 6000).columns(false, false), {}, {.num_nodes = kNodes},
              {});
  return path;
}

struct Scratch {
  std::vector<int> numbers;
  std::size_t bytes() const { return numbers.capacity() * sizeof(int); }
};

/// What all threads share. There is one pipeline at a time, as in a loader; others may have it.
class Stress {
 public:
  explicit Stress(const TemporaryFolder& folder)
      : graph_(std::make_shared<Graph>(write_edges(folder))),
        matrix_(write_rows(folder)),
        gather_(matrix_) {
    for (const ReaderKind kind : {ReaderKind::kMapped, ReaderKind::kPread})
      for (const std::uint64_t memory : {0, 20'000}) {
        FeedOptions options;
        options.memory = memory;
        options.slot_share = 0.3;
        options.window = 8;
        options.reader = kind;
        // A batch that wants most rows has the table swept, where memory is for few.
        for (std::int64_t row = 0; row < (memory == 0 ? 300 : 20); ++row)
          options.trial.push_back(row);
        feeds_.push_back(std::make_shared<TableFeed>(matrix_, options));
      }
  }

  std::size_t num_swept() const {
    std::size_t count = 0;
    for (const auto& feed : feeds_) count += feed->is_swept();
    return count;
  }

  void work(unsigned seed) {
    std::mt19937 choice(seed);
    for (int i = calls_of_a_thread(); i > 0; --i) {
      switch (choice() % 24) {
        case 0:
          begin(choice);
          break;
        case 1:
          if (const auto pipeline = current()) pipeline->stop();
          break;
        case 2:
          if (const auto pipeline = current()) ask(*pipeline);
          break;
        case 3:
          sample(choice);
          break;
        case 4:
          gather(choice);
          break;
        case 5:
          add_up(choice);
          break;
        case 6:
          recycle(choice);
          break;
        default:
          take(choice);
      }
    }
  }

  std::atomic<int> num_taken = 0, num_refused = 0;

 private:
  std::shared_ptr<BatchPipeline> current() {
    const std::lock_guard lock(mutex_);
    return pipeline_;
  }

  void begin(std::mt19937& choice) {
    PipelineOptions options;
    options.sample.fanouts = {4, 4};
    options.sample.key = RandomKey(choice());
    options.window = 8;
    const std::lock_guard lock(mutex_);
    if (pipeline_) pipeline_->stop();
    // One that is not stopped has the feeds, and nobody else gets them.
    pipeline_ = std::make_shared<BatchPipeline>(
        graph_, std::vector{feeds_[choice() % feeds_.size()]}, std::make_shared<Seeds>(), options);
  }

  void take(std::mt19937& choice) {
    const auto pipeline = current();
    if (!pipeline) return;
    for (auto i = choice() % 8; i > 0; --i) {
      LoadedBatch batch;
      try {
        if (pipeline->next(batch, kPatience) != BatchPipeline::Next::kBatch) continue;
      } catch (const std::logic_error&) {  // it was stopped
        ++num_refused;
        return;
      }
      ++num_taken;
      const auto& nodes = *batch.sample.types[0].nodes;
      CHECK_EQUAL(batch.rows[0].size(), nodes.size() * kColumns * sizeof(float));
      for (std::size_t place = 0; place < nodes.size(); ++place)
        check_row(nodes[place], batch.rows[0].data() + place * kColumns * sizeof(float));
    }
  }

  static void ask(const BatchPipeline& pipeline) {
    const PipelineStats stats = pipeline.stats();
    CHECK_EQUAL(stats.feeds.size(), std::size_t{1});
    CHECK(stats.batches <= kNodes / kBatchSeeds);
  }

  void sample(std::mt19937& choice) const {
    SampleOptions options;
    options.fanouts = {3, 3};
    options.key = RandomKey(choice());
    std::vector<NodeId> seeds;
    for (int i = 0; i < 50; ++i) seeds.push_back(static_cast<NodeId>(choice() % kNodes));
    const NeighborSample sample = sample_neighbors(*graph_, seeds, {}, options);
    for (std::size_t i = 0; i < sample.nodes->size(); ++i)
      CHECK((*sample.nodes)[i] < static_cast<std::int64_t>(kNodes));
  }

  void gather(std::mt19937& choice) const {
    constexpr ReaderKind kKinds[] = {ReaderKind::kAuto, ReaderKind::kMapped, ReaderKind::kPread};
    std::vector<std::int64_t> ids(100);
    for (std::int64_t& id : ids) id = static_cast<std::int64_t>(choice() % kNodes);
    std::vector<float> out(ids.size() * kColumns);
    gather_.gather(ids, DType::kFloat32, std::as_writable_bytes(std::span(out)),
                   kKinds[choice() % 3]);
    for (std::size_t i = 0; i < ids.size(); ++i)
      check_row(ids[i], reinterpret_cast<const std::byte*>(out.data() + i * kColumns));
  }

  static void add_up(std::mt19937& choice) {
    const std::size_t count = choice() % 5000;
    std::atomic<std::size_t> sum = 0;
    const auto body = [&](std::size_t i) { sum += i; };
    if (choice() % 2 == 0)
      parallel_each(count, 100, body);
    else
      overlapped_for(count, 4, body);
    CHECK_EQUAL(2 * sum.load(), count * count - count);
    set_num_threads(1 + static_cast<int>(choice() % 4));
  }

  static void recycle(std::mt19937& choice) {
    const Recycled<Scratch> scratch;
    scratch->numbers.assign(choice() % 1000, 7);
    for (const int number : scratch->numbers) CHECK_EQUAL(number, 7);
  }

  std::shared_ptr<const Graph> graph_;
  FeatureMatrix matrix_;
  FeatureGather gather_;
  std::vector<std::shared_ptr<TableFeed>> feeds_;
  std::mutex mutex_;
  std::shared_ptr<BatchPipeline> pipeline_;
};

}  // namespace

TEST(random_calls_of_many_threads) {
  const TemporaryFolder folder;
  Stress stress(folder);
  CHECK_EQUAL(stress.num_swept(), std::size_t{2});  // of four
  std::mutex mutex;
  std::string problem;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      try {
        stress.work(i + 1);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        problem = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  set_num_threads(2);
  CHECK_EQUAL(problem, std::string());
  CHECK(stress.num_taken > 0);
  CHECK(stress.num_refused > 0);
}

TEST(many_threads_end_one_pipeline) {
  const TemporaryFolder folder;
  const auto graph = std::make_shared<Graph>(write_edges(folder));
  for (int round = 0; round < 30; ++round) {
    PipelineOptions options;
    options.sample.fanouts = {4, 4};
    BatchPipeline pipeline(graph, {}, std::make_shared<Seeds>(), options);
    std::atomic<int> num_ended = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        LoadedBatch batch;
        try {
          while (pipeline.next(batch, kPatience) != BatchPipeline::Next::kEnd) {
          }
        } catch (const std::logic_error&) {
          ++num_ended;
        }
      });
      threads.emplace_back([&] { pipeline.stop(); });
    }
    for (std::thread& thread : threads) thread.join();
    LoadedBatch batch;
    CHECK_THROWS_WITH(pipeline.next(batch, kPatience), std::logic_error, "was ended by another");
  }
}

TEST(a_feed_has_one_pipeline) {
  const TemporaryFolder folder;
  const auto graph = std::make_shared<Graph>(write_edges(folder));
  const FeatureMatrix matrix(write_rows(folder));
  const auto feed = std::make_shared<TableFeed>(matrix, FeedOptions{});
  PipelineOptions options;
  options.sample.fanouts = {4};
  const auto begin = [&] {
    return std::make_unique<BatchPipeline>(graph, std::vector{feed}, std::make_shared<Seeds>(),
                                           options);
  };
  const auto first = begin();
  CHECK_THROWS_WITH(begin(), std::logic_error, "another loop has the caches");
  first->stop();
  const auto second = begin();
  first->stop();  // which has nothing to end any more
  LoadedBatch batch;
  for (std::uint64_t number = 0; number < kNodes / kBatchSeeds; ++number) {
    BatchPipeline::Next next = BatchPipeline::Next::kNotYet;
    while (next == BatchPipeline::Next::kNotYet) next = second->next(batch, kPatience);
    CHECK(next == BatchPipeline::Next::kBatch);
    CHECK_EQUAL(batch.number, number);
  }
}
