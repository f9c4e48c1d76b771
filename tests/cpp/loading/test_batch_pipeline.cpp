// The pipeline of batches: what is not seen from Python, where batches and their rows are tested.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/graph/list_reads.hpp"
#include "graphmount/loading/batch_pipeline.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 40;
constexpr std::uint64_t kBatches = 30;
constexpr auto kPatience = std::chrono::milliseconds(20'000);

/// One node for each batch; those from some batch on come when they are let go.
class HeldSeeds final : public SeedSource {
 public:
  explicit HeldSeeds(std::uint64_t num_free) : num_free_(num_free) {}

  std::uint64_t num_batches() const override { return kBatches; }

  BatchSeeds seeds_of(std::uint64_t batch, RandomKey, Places) const override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batch < num_free_; });
    return {{static_cast<NodeId>(batch)}, {}, {}};
  }

  void let_go(std::uint64_t num_free) {
    const std::lock_guard lock(mutex_);
    num_free_ = num_free;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t num_free_;
};

/// Lets all seeds go in the end, whatever happens, or the pipeline would never end.
struct Release {
  HeldSeeds& seeds;
  ~Release() { seeds.let_go(kBatches); }
};

std::shared_ptr<const Graph> make_graph(const TemporaryFolder& folder) {
  write_graph(folder / "graph.gl", random_edges(3, kNodes, 600).columns(false, false), {},
              {.num_nodes = kNodes}, {});
  return std::make_shared<Graph>(folder / "graph.gl");
}

}  // namespace

TEST(first_batches_do_not_wait_for_the_whole_window) {
  const TemporaryFolder folder;
  const auto graph = make_graph(folder);
  for (const std::uint64_t window : {1, 2, 3, 16, 63}) {
    const auto seeds = std::make_shared<HeldSeeds>(0);
    PipelineOptions options;
    options.sample.fanouts = {3};
    options.window = window;
    BatchPipeline pipeline(graph, {}, seeds, options);
    const Release release{*seeds};
    LoadedBatch batch;
    for (std::uint64_t number = 0; number < kBatches; ++number) {
      // What the batch has to see, itself included; it does not come before.
      const std::uint64_t wanted = std::min(kBatches, number + std::min(window, 2 * (number + 1)));
      seeds->let_go(wanted - 1);
      if (number < 4)
        CHECK(pipeline.next(batch, std::chrono::milliseconds(20)) == BatchPipeline::Next::kNotYet);
      seeds->let_go(wanted);
      CHECK(pipeline.next(batch, kPatience) == BatchPipeline::Next::kBatch);
      CHECK_EQUAL(batch.number, number);
      CHECK_EQUAL((*batch.sample.types[0].nodes)[0], static_cast<std::int64_t>(number));
    }
    CHECK(pipeline.next(batch, kPatience) == BatchPipeline::Next::kEnd);
  }
}

TEST(ends_while_samples_are_waited_for) {
  const TemporaryFolder folder;
  const auto seeds = std::make_shared<HeldSeeds>(1);
  PipelineOptions options;
  options.sample.fanouts = {3};
  BatchPipeline pipeline(make_graph(folder), {}, seeds, options);
  const Release release{*seeds};
  LoadedBatch batch;
  CHECK(pipeline.next(batch, std::chrono::milliseconds(20)) == BatchPipeline::Next::kNotYet);
  std::thread stopping([&] { pipeline.stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  seeds->let_go(kBatches);
  stopping.join();
  CHECK_THROWS(pipeline.next(batch, kPatience), std::logic_error);
}

TEST(ends_while_a_batch_is_being_sampled) {
  // Work that goes on until it is told to end, as a batch of millions would for a long time.
  struct EndlessSeeds : SeedSource {
    std::uint64_t num_batches() const override { return 1; }
    BatchSeeds seeds_of(std::uint64_t, RandomKey, Places) const override {
      for (is_at_work = true;; std::this_thread::yield()) check_interrupt();
    }
    mutable std::atomic<bool> is_at_work = false;
  };
  const TemporaryFolder folder;
  const auto seeds = std::make_shared<EndlessSeeds>();
  BatchPipeline pipeline(make_graph(folder), {}, seeds, {});
  while (!seeds->is_at_work) std::this_thread::yield();
  pipeline.stop();
  LoadedBatch batch;
  CHECK_THROWS(pipeline.next(batch, kPatience), std::logic_error);
}

TEST(batches_have_the_ids_of_the_source_if_they_are_wanted) {
  const TemporaryFolder folder;
  std::vector<std::int64_t> names(kNodes);
  for (std::size_t i = 0; i < kNodes; ++i) names[i] = 1000 - static_cast<std::int64_t>(i);
  const Edges edges = random_edges(3, kNodes, 600);
  write_graph(folder / "graph.gl", edges.columns(false, false), {names, {}},
              {.num_nodes = kNodes, .keep_source_rows = true}, {});
  const auto graph = std::make_shared<Graph>(folder / "graph.gl");
  const auto rows =
      read_list<std::int64_t>(*graph, SectionKind::kSourceRows, Direction::kIn, 0, 600);
  for (const bool is_external : {false, true}) {
    for (const bool is_of_source : {false, true}) {
      PipelineOptions options;
      options.sample.fanouts = {3, 3};
      BatchPipeline own(graph, {}, std::make_shared<HeldSeeds>(kBatches), options);
      options.external_nodes = is_external;
      options.source_rows = is_of_source;
      BatchPipeline other(graph, {}, std::make_shared<HeldSeeds>(kBatches), options);
      LoadedBatch batch, translated;
      while (own.next(batch, kPatience) == BatchPipeline::Next::kBatch) {
        CHECK(other.next(translated, kPatience) == BatchPipeline::Next::kBatch);
        const auto nodes = batch.sample.types[0].nodes->span(),
                   ids = batch.sample.relations[0].edge_ids->span();
        CHECK_EQUAL(translated.sample.types[0].nodes->size(), nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
          CHECK_EQUAL((*translated.sample.types[0].nodes)[i],
                      is_external ? 1000 - nodes[i] : nodes[i]);
        CHECK_EQUAL(translated.sample.relations[0].edge_ids->size(), ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i)
          CHECK_EQUAL((*translated.sample.relations[0].edge_ids)[i],
                      is_of_source ? rows[static_cast<std::size_t>(ids[i])] : ids[i]);
      }
    }
  }
  PipelineOptions options;
  options.external_nodes = true;
  const auto seeds = std::make_shared<HeldSeeds>(kBatches);
  CHECK_THROWS(BatchPipeline(make_graph(folder), {}, seeds, options), MissingDataError);
}

TEST(a_table_with_too_few_rows_is_refused_before_it_is_read) {
  const TemporaryFolder folder;
  const auto graph = make_graph(folder);
  const auto write = [&](std::uint64_t rows) {
    const std::vector<float> values(rows * 3, 1.0F);
    FeatureWriter writer(folder / "x.gd", {.rows = rows, .columns = 3});
    writer.append(std::as_bytes(std::span(values)));
    writer.finish();
  };
  for (const IdSpace space : {IdSpace::kNodes, IdSpace::kEdges}) {
    for (const std::uint64_t memory : {0, 100, 100'000}) {
      write(10);
      const FeatureMatrix matrix(folder / "x.gd");
      // Hot rows that are not the first are found by a bitmap, which ends with the last row.
      FeedOptions feed_options;
      feed_options.space = space;
      feed_options.memory = memory;
      feed_options.slot_share = 0.5;
      feed_options.hottest = {7, 3};
      const auto feed = std::make_shared<TableFeed>(matrix, feed_options);
      const auto seeds = std::make_shared<HeldSeeds>(kBatches);
      PipelineOptions options;
      options.sample.fanouts = {kAllNeighbors};
      BatchPipeline pipeline(graph, {feed}, seeds, options);
      LoadedBatch batch;
      const auto take_all = [&] {
        while (pipeline.next(batch, kPatience) == BatchPipeline::Next::kBatch) {
        }
      };
      CHECK_THROWS_WITH(take_all(), IdError, space == IdSpace::kEdges ? "edges" : "nodes");
    }
  }
}
