// One epoch of batches, made ahead of the training loop: one thread asks a source for seeds and
// samples, another fetches rows, and finished batches wait in a queue for `next`. Batches have all
// types of nodes and all relations of what is sampled, of which a graph of one kind has one each.
//
// Batches come in order, and each is a pure function of its number and its key. An error in either
// thread is thrown by `next`, after the batches that were finished before. The pipeline may be
// destroyed at any point, and its threads are gone when that returns. All calls may overlap. The
// threads belong to their process: see process_bound.hpp.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "graphmount/loading/rows/cold_rows.hpp"
#include "graphmount/loading/sampled_graph.hpp"
#include "graphmount/loading/seed_source.hpp"
#include "graphmount/loading/table_feed.hpp"
#include "graphmount/system/memory/buffer_pool.hpp"
#include "graphmount/system/threads/thread.hpp"

namespace graphmount {

struct PipelineOptions {
  SampleOptions sample;           // its key is that of the epoch
  std::uint64_t first_batch = 0;  // where to begin: for going on in the middle of an epoch
  std::uint64_t window = 16;      // batches that are sampled ahead
  std::uint64_t prefetch = 2;     // finished batches that may wait
  bool pin_memory = false;        // rows go to memory that a GPU may read: host_pinning.hpp
  bool external_nodes = false;    // nodes of batches are what the source calls them, of each type
  bool source_rows = false;       // edge ids of batches are the rows of the source
  bool turned_edges = false;      // batches have their edges by source, too: turned_hops.hpp
};

struct LoadedBatch {
  std::uint64_t number = 0;
  TypedSample sample;
  std::vector<std::int64_t> ends;        // of links: see BatchSeeds
  std::vector<BufferPool::Handle> rows;  // of each table; of targets alone, if it is aggregated
  std::vector<std::size_t> num_rows;     // the same; rows may have no columns, and no bytes
  /// Of each table that is aggregated, as many rows: what is made of the neighbors of each target.
  std::vector<BufferPool::Handle> aggregated;
  std::vector<ResultBuffer> turned;  // what turn_hops makes of each relation, if it is wanted
};

/// How long the parts of the pipeline have worked and waited, and what the feeds say.
struct PipelineStats {
  std::uint64_t batches = 0;
  std::vector<std::uint64_t> sampled_nodes, sampled_edges;  // of each type, and each relation
  double sample_seconds = 0;                                // the time that sampling took
  double feed_seconds = 0;                                  // that fetching rows took
  double feed_wait_seconds = 0;                             // fetching waited for sampling
  double ready_wait_seconds = 0;  // fetching waited for the one who takes batches
  double taker_wait_seconds = 0;  // that one waited for a batch
  // Whose rows are in memory now: finished and waiting, or handed out and kept.
  std::uint64_t held_batches = 0, held_bytes = 0;
  // What the feeds have counted in all, and what they had when this pipeline began.
  std::vector<FeedStats> feeds, feeds_before;
};

class BatchPipeline {
 public:
  /// Throws std::logic_error if another pipeline has one of the feeds, std::invalid_argument (also
  /// if a feed is of a space that is not sampled, or aggregates where there is more than one kind
  /// or edges do not lead from neighbors to targets), and ThreadError; the feeds are free again
  /// then.
  BatchPipeline(SampledGraph graph, std::vector<std::shared_ptr<TableFeed>> feeds,
                std::shared_ptr<const SeedSource> seeds, PipelineOptions options);
  /// Of one kind. Throws MissingDataError, too, if the graph does not know the ids of its source.
  BatchPipeline(std::shared_ptr<const Graph> graph, std::vector<std::shared_ptr<TableFeed>> feeds,
                std::shared_ptr<const SeedSource> seeds, const PipelineOptions& options)
      : BatchPipeline(SampledGraph::of_one_kind(std::move(graph), options.external_nodes),
                      std::move(feeds), std::move(seeds), options) {}
  ~BatchPipeline();
  BatchPipeline(const BatchPipeline&) = delete;
  BatchPipeline& operator=(const BatchPipeline&) = delete;

  /// Ends the threads and waits for them; there are no batches afterwards, `next` throws where it
  /// waits, and the feeds are free for another pipeline.
  void stop();

  enum class Next { kBatch, kEnd, kNotYet };

  /// Gives the next batch, or says that there is none, or none after so much waiting. Throws
  /// std::logic_error after `stop`, also if that comes while it waits.
  Next next(LoadedBatch& batch, std::chrono::milliseconds patience);

  PipelineStats stats() const;

 private:
  struct Sampled {
    std::uint64_t number;
    TypedSample sample;
    std::vector<std::int64_t> ends;
    std::vector<ColdRows> cold;  // of each table
  };

  void require_feeds() const;
  void take_feeds();
  void free_feeds() noexcept;
  void run_sampler();
  void run_feeder();
  Sampled sample_batch(std::uint64_t number) const;
  void divide_room(const TypedSample& sample);
  void announce();
  /// A batch whose rows are under way.
  struct Loading {
    std::vector<ColdRows> cold;
    LoadedBatch batch;
    enum class State { kReading, kCopied, kFinishing } state = State::kReading;
  };
  void load_batches(std::optional<Loading>& begun, std::optional<Loading>& pending);
  std::optional<Sampled> take_sampled(std::unique_lock<std::mutex>& lock);
  bool is_ready_to_go_on() const;
  bool sees_far_enough() const;
  void start(Loading& loading);
  void finish(std::optional<Loading>& loading);
  void translate(TypedSample& sample) const;
  std::vector<ResultBuffer> turned(const TypedSample& sample) const;
  template <class Work>
  void guarded(const Work& work);

  SampledGraph graph_;
  std::vector<std::shared_ptr<TableFeed>> feeds_;  // of the tables whose rows go with every batch
  std::shared_ptr<const SeedSource> seeds_;
  PipelineOptions options_;
  std::uint64_t num_batches_;                    // of the whole epoch
  bool is_swept_ = false;                        // whether a table is
  std::vector<BufferPool> pools_;                // one for each table
  std::vector<BufferPool> aggregated_pools_;     // the same, for tables that are aggregated
  std::vector<std::uint64_t> next_to_announce_;  // the batch, for each table
  std::uint64_t num_begun_ = 0;                  // batches whose rows are or were under way

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sampled> sampled_;
  std::deque<LoadedBatch> ready_;
  std::uint64_t num_sampled_ = 0, num_taken_ = 0;
  bool is_stopping_ = false;
  std::exception_ptr failure_;
  PipelineStats stats_;
  std::mutex end_mutex_;  // held by who ends the threads; never taken inside the other
  bool has_ended_ = false;
  Thread sampler_, feeder_;  // the last: they use the others
};

}  // namespace graphmount
