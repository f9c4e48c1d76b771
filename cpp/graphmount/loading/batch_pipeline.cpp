#include "graphmount/loading/batch_pipeline.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/loading/rows/row_window.hpp"
#include "graphmount/system/threads/team.hpp"
#include "graphmount/training/turned_hops.hpp"

namespace graphmount {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Waits until `ready`, and adds the time to `waited`, which the lock guards.
template <class Ready>
void timed_wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                double& waited, const Ready& ready) {
  const auto start = Clock::now();
  changed.wait(lock, ready);
  waited += seconds_since(start);
}

/// The edges of a sample by their target, if they lie so.
NeighborEdges edges_of(const RelationSample& sample) {
  return {sample.indptr->span(), sample.edge_index->span().first(sample.edge_ids->size())};
}

/// Counts what each part of a sample has.
template <class Parts, class Size>
void count(std::vector<std::uint64_t>& counts, const Parts& parts, const Size& size_of) {
  for (std::size_t i = 0; i < parts.size(); ++i) counts[i] += size_of(parts[i]);
}

/// Throws std::invalid_argument unless all edges that are sampled lead to the nodes that they were
/// drawn for, and lie by them.
void require_targets(const SampleOptions& sample) {
  if (sample.direction != Direction::kIn || sample.induced || sample.fanouts.empty())
    throw std::invalid_argument(
        "tables are aggregated, and edges turned round, along the edges that were drawn, which "
        "must "
        "be edges into the nodes that they were drawn for, of one hop at least");
}

}  // namespace

BatchPipeline::BatchPipeline(SampledGraph graph, std::vector<std::shared_ptr<TableFeed>> feeds,
                             std::shared_ptr<const SeedSource> seeds, PipelineOptions options)
    : graph_(std::move(graph)),
      feeds_(std::move(feeds)),
      seeds_(std::move(seeds)),
      options_(std::move(options)),
      num_batches_(seeds_->num_batches()),
      num_sampled_(options_.first_batch),
      num_taken_(options_.first_batch) {
  if (options_.window < 1 || options_.window > RowWindow::kMostBatches)
    throw std::invalid_argument(say("the window must be of 1 to ", RowWindow::kMostBatches,
                                    " batches, not ", options_.window));
  if (options_.prefetch == 0) throw std::invalid_argument("prefetch must be at least 1");
  if (options_.turned_edges) require_targets(options_.sample);
  // The sampler has the rows of the source at hand, but tables of edges are read by our own ids.
  options_.sample.source_rows =
      options_.source_rows && std::ranges::none_of(feeds_, [](const auto& feed) {
        return feed->space().kind == IdSpace::Kind::kEdges;
      });
  require_feeds();
  stats_.sampled_nodes.resize(graph_.num_types());
  stats_.sampled_edges.resize(graph_.num_relations());
  for (const auto& feed : feeds_) {
    // The rows that a sweep has ready take the place of buffers that wait for the next batch.
    const std::size_t most_free = feed->is_swept() ? 1 : options_.prefetch + 3;
    pools_.emplace_back(most_free, options_.pin_memory);
    aggregated_pools_.emplace_back(most_free, options_.pin_memory);
    is_swept_ |= feed->is_swept();
    next_to_announce_.push_back(options_.first_batch);
  }
  take_feeds();
  try {
    for (const auto& feed : feeds_) {
      feed->abandon();
      stats_.feeds.push_back(feed->stats());
    }
    stats_.feeds_before = stats_.feeds;
    sampler_ = Thread([this] {
      work_beside_team();
      guarded([this] { run_sampler(); });
    });
    feeder_ = Thread([this] { guarded([this] { run_feeder(); }); });
  } catch (...) {
    stop();
    throw;
  }
}

void BatchPipeline::require_feeds() const {
  for (const auto& feed : feeds_) {
    if (!graph_.has(feed->space()))
      throw std::invalid_argument(say(feed->matrix().mount().file().path(), ": a table of ",
                                      name_of(feed->space()), " of number ", feed->space().number,
                                      ", of which there are fewer"));
    if (!feed->aggregates()) continue;
    require_targets(options_.sample);
    if (!graph_.is_of_one_kind())
      throw std::invalid_argument("tables are aggregated in graphs of one kind alone");
  }
}

void BatchPipeline::take_feeds() {
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    if (feeds_[i]->take()) continue;
    while (i > 0) feeds_[--i]->give_back();
    throw std::logic_error("another loop has the caches of this table; end it first");
  }
}

void BatchPipeline::free_feeds() noexcept {
  for (const auto& feed : feeds_) feed->give_back();
}

BatchPipeline::~BatchPipeline() {
  stop();
}

void BatchPipeline::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  // One caller ends the threads; others return when that is done. The feeds may have another owner
  // by then.
  const std::lock_guard ending(end_mutex_);
  if (has_ended_) return;
  if (feeder_.is_joinable())
    for (const auto& feed : feeds_) feed->cancel();
  sampler_.join();
  feeder_.join();
  has_ended_ = true;
  free_feeds();
  // One by one, and after the lock: to free pinned memory takes time. Not by way of another deque,
  // which needs memory even if it is empty.
  for (;;) {
    LoadedBatch batch;
    const std::lock_guard lock(mutex_);
    sampled_.clear();
    if (ready_.empty()) break;
    batch = std::move(ready_.front());
    ready_.pop_front();
  }
}

/// Runs the body of a thread, and keeps the first exception for `next`.
template <class Work>
void BatchPipeline::guarded(const Work& work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  changed_.notify_all();
}

void BatchPipeline::run_sampler() {
  // A batch may be large: ending the loop does not wait until it has been sampled.
  const std::function<void()> ask = [this] {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) throw Abandoned();
  };
  const InterruptScope scope(ask);
  for (std::uint64_t number = options_.first_batch; number < num_batches_; ++number) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_stopping_ || sampled_.size() < options_.window; });
      if (is_stopping_) return;
    }
    const auto start = Clock::now();
    Sampled sampled = sample_batch(number);
    const std::lock_guard lock(mutex_);
    stats_.sample_seconds += seconds_since(start);
    count(stats_.sampled_nodes, sampled.sample.types,
          [](const TypeSample& type) { return type.nodes->size(); });
    count(stats_.sampled_edges, sampled.sample.relations,
          [](const RelationSample& relation) { return relation.edge_ids->size(); });
    sampled_.push_back(std::move(sampled));
    ++num_sampled_;
    changed_.notify_all();
  }
}

BatchPipeline::Sampled BatchPipeline::sample_batch(std::uint64_t number) const {
  SampleOptions sample = options_.sample;
  sample.key = sample.key.with(number);
  BatchSeeds seeds = seeds_->seeds_of(number, sample.key, sample.places);
  Sampled sampled{number, graph_.sample(seeds, sample), std::move(seeds.ends), {}};
  for (const auto& feed : feeds_) {
    const auto ids = ids_of(sampled.sample, feed->space());
    feed->require_rows(ids);
    sampled.cold.emplace_back(ids, feed->hot());
  }
  return sampled;
}

void BatchPipeline::run_feeder() {
  // Out here, since reads that are under way must not outlive what they write to.
  std::optional<Loading> begun, pending;
  std::exception_ptr failure;
  try {
    load_batches(begun, pending);
  } catch (...) {
    failure = std::current_exception();
    try {
      // What is nearly done may still be good, and comes first.
      if (pending && pending->state == Loading::State::kCopied) finish(pending);
    } catch (...) {  // one failure is enough
    }
  }
  for (const auto& feed : feeds_) {
    try {
      feed->abandon();
    } catch (...) {  // each has to wait for its reads, whatever happens to the others
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Reads the rows of one batch while the batch before it, `pending`, is completed. A table that is
/// swept reads ahead by itself, and one batch at a time is completed: its rows are there before it
/// gets a buffer.
void BatchPipeline::load_batches(std::optional<Loading>& begun, std::optional<Loading>& pending) {
  for (std::uint64_t number = options_.first_batch; number < num_batches_; ++number) {
    std::unique_lock lock(mutex_);
    if (pending && (is_swept_ || !is_ready_to_go_on())) {
      lock.unlock();
      finish(pending);
      lock.lock();
    }
    auto sampled = take_sampled(lock);
    lock.unlock();
    if (!sampled) break;
    ++num_begun_;
    changed_.notify_all();
    const auto start_time = Clock::now();
    begun.emplace(
        std::move(sampled->cold),
        LoadedBatch{
            sampled->number, std::move(sampled->sample), std::move(sampled->ends), {}, {}, {}, {}});
    for (const auto& feed : feeds_) feed->arrive();
    start(*begun);
    finish(pending);
    pending.swap(begun);
    for (const auto& feed : feeds_) feed->copy();
    pending->state = Loading::State::kCopied;
    lock.lock();
    stats_.feed_seconds += seconds_since(start_time);
  }
  finish(pending);
}

bool BatchPipeline::is_ready_to_go_on() const {
  return ready_.size() < options_.prefetch && sees_far_enough();
}

/// Whether the next batch need not wait for more samples. At first a few samples are enough, so
/// that the first batch does not wait for a whole window; each further batch looks two batches
/// further ahead.
bool BatchPipeline::sees_far_enough() const {
  const std::uint64_t wanted = std::min<std::uint64_t>(options_.window, 2 * (num_begun_ + 1));
  return sampled_.size() >= wanted || num_sampled_ == num_batches_;
}

/// Waits for the next sample; nothing if there is none to come.
std::optional<BatchPipeline::Sampled> BatchPipeline::take_sampled(
    std::unique_lock<std::mutex>& lock) {
  timed_wait(changed_, lock, stats_.ready_wait_seconds,
             [&] { return is_stopping_ || ready_.size() < options_.prefetch; });
  timed_wait(changed_, lock, stats_.feed_wait_seconds,
             [&] { return is_stopping_ || failure_ || sees_far_enough(); });
  // If the sampler failed, what it had done before is still good.
  if (is_stopping_ || sampled_.empty()) return std::nullopt;
  divide_room(sampled_.front().sample);
  announce();
  Sampled sampled = std::move(sampled_.front());
  sampled_.pop_front();
  return sampled;
}

/// Says how much memory a sweep may have: as much as two batches, since one is made at a time where
/// else there are two, and while it is made, one less waits than may. If two less wait, its rows
/// may be there twice: in the sweep, and in the batch.
void BatchPipeline::divide_room(const TypedSample& sample) {
  if (!is_swept_) return;
  const bool has_spare = ready_.size() + 1 < options_.prefetch;
  for (const auto& feed : feeds_)
    feed->set_room(2 * ids_of(sample, feed->space()).size() * feed->out_row_bytes(), has_spare);
}

/// Announces the batches ahead to each table, as far as it has room for them.
void BatchPipeline::announce() {
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    for (const Sampled& sampled : sampled_) {
      if (sampled.number < next_to_announce_[i]) continue;
      if (!feeds_[i]->announce(sampled.cold[i])) break;
      ++next_to_announce_[i];
    }
  }
}

void BatchPipeline::start(Loading& loading) {
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    TableFeed& feed = *feeds_[i];
    LoadedBatch& batch = loading.batch;
    const auto ids = ids_of(batch.sample, feed.space());
    FeedOutput out;
    if (feed.aggregates()) out.edges = edges_of(batch.sample.relations.front());
    batch.num_rows.push_back(feed.aggregates() ? out.edges.num_targets() : ids.size());
    const std::size_t bytes = batch.num_rows.back() * feed.out_row_bytes();
    batch.rows.push_back(pools_[i].take(bytes));
    batch.aggregated.push_back(feed.aggregates() ? aggregated_pools_[i].take(bytes)
                                                 : BufferPool::Handle());
    out.rows = batch.rows.back().data();
    if (feed.aggregates()) out.aggregated = batch.aggregated.back().data();
    feed.start(ids, loading.cold[i], out);
  }
}

/// Completes a batch, if there is one, and hands it over.
void BatchPipeline::finish(std::optional<Loading>& loading) {
  if (!loading) return;
  loading->state = Loading::State::kFinishing;
  for (const auto& feed : feeds_) feed->finish();
  translate(loading->batch.sample);
  loading->batch.turned = turned(loading->batch.sample);
  {
    const std::lock_guard lock(mutex_);
    ++stats_.batches;
    for (std::size_t i = 0; i < feeds_.size(); ++i) stats_.feeds[i] = feeds_[i]->stats();
    ready_.push_back(std::move(loading->batch));
    divide_room(ready_.back().sample);
  }
  loading.reset();
  changed_.notify_all();
}

/// Puts the ids of the source in the place of our own, where the sampler has not: here, where the
/// taker need not wait for it, and in the same memory. Rows have been fetched by ours.
void BatchPipeline::translate(TypedSample& sample) const {
  if (options_.external_nodes) graph_.name_nodes(sample);
  if (options_.source_rows && !options_.sample.source_rows) graph_.name_edges(sample);
}

/// The edges of each relation by source, for the way back of a model: nothing if it is not wanted.
std::vector<ResultBuffer> BatchPipeline::turned(const TypedSample& sample) const {
  std::vector<ResultBuffer> made(options_.turned_edges ? graph_.num_relations() : 0);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto [source_type, destination_type] = graph_.ends_of(i);
    const NeighborEdges edges = edges_of(sample.relations[i]);
    const HopEdges hops{
        edges.starts, edges.sources, sample.types[destination_type].num_sampled_nodes,
        sample.types[source_type].num_sampled_nodes, sample.relations[i].num_sampled_edges};
    made[i]->resize(turned_size(hops));
    turn_hops(hops, made[i]->span());
  }
  return made;
}

BatchPipeline::Next BatchPipeline::next(LoadedBatch& batch, std::chrono::milliseconds patience) {
  const auto start = Clock::now();
  std::unique_lock lock(mutex_);
  const auto require_running = [&] {
    if (is_stopping_)
      throw std::logic_error(
          "this loop was ended by another one over the same loader, by its close() or its "
          "load_state_dict(); begin a new one");
  };
  require_running();
  // With several takers, the last batch may be gone when this one has its turn.
  const auto is_over = [&] { return num_taken_ >= num_batches_; };
  if (is_over()) return Next::kEnd;
  const bool is_there = changed_.wait_for(lock, patience, [&] {
    return is_stopping_ || is_over() || !ready_.empty() || failure_ != nullptr;
  });
  stats_.taker_wait_seconds += seconds_since(start);
  require_running();
  if (is_over()) return Next::kEnd;
  if (!is_there) return Next::kNotYet;
  if (ready_.empty()) std::rethrow_exception(failure_);
  batch = std::move(ready_.front());
  ready_.pop_front();
  ++num_taken_;
  lock.unlock();
  changed_.notify_all();
  return Next::kBatch;
}

PipelineStats BatchPipeline::stats() const {
  const std::lock_guard lock(mutex_);
  PipelineStats stats = stats_;
  for (const BufferPool& pool : pools_) {
    const auto [count, bytes] = pool.taken();
    stats.held_batches = std::max<std::uint64_t>(stats.held_batches, count);
    stats.held_bytes += bytes;
  }
  for (const BufferPool& pool : aggregated_pools_) stats.held_bytes += pool.taken().second;
  return stats;
}

}  // namespace graphmount
