// Bindings of the loader: its seeds, its tables and its batches.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "convert/arrays.hpp"
#include "convert/mounted_features.hpp"
#include "convert/relations.hpp"
#include "convert/results.hpp"
#include "convert/words.hpp"
#include "graphmount/loading/batch_pipeline.hpp"
#include "graphmount/loading/link_seeds.hpp"
#include "graphmount/loading/rows/read_threads.hpp"
#include "graphmount/system/threads/process_bound.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<IdSpace::Kind> = make_words<IdSpace::Kind>(
    "space", {{"nodes", IdSpace::Kind::kNodes}, {"edges", IdSpace::Kind::kEdges}});

template <>
inline constexpr auto kWords<NegativeMode> =
    make_words<NegativeMode>("mode", {{"none", NegativeMode::kNone},
                                      {"binary", NegativeMode::kBinary},
                                      {"triplet", NegativeMode::kTriplet}});

template <>
inline constexpr auto kWords<Aggregation> = make_words<Aggregation>(
    "aggregation",
    {{"none", Aggregation::kNone}, {"sum", Aggregation::kSum}, {"mean", Aggregation::kMean}});

namespace {

using nb::literals::operator""_a;

using Ids = Copied<std::int64_t>;
using namespace std::chrono_literals;

/// What Python calls TableFeed: harmless in a child of fork, where it cannot be used.
using PythonFeed = ProcessBound<TableFeed>;
/// The same for the threads that several of them share.
using PythonReadThreads = ProcessBound<ReadThreads>;

/// Hot rows of another process: a descriptor, their bytes, how many there are, and whether they are
/// the first of the file.
using GivenRows = std::tuple<int, std::size_t, std::uint64_t, bool>;

std::optional<SharedHotRows> to_given(const std::optional<GivenRows>& given) {
  if (!given) return std::nullopt;
  const auto& [descriptor, bytes, count, is_first] = *given;
  return SharedHotRows{SealedMemory::of(descriptor, bytes), count, is_first};
}

std::optional<GivenRows> shared_rows(const PythonFeed& self) {
  const auto& shared = self->shared_hot();
  if (!shared) return std::nullopt;
  const SealedMemory& memory = *shared->memory;
  return GivenRows{memory.descriptor(), memory.bytes().size(), shared->count, shared->is_first};
}

void make_feed(PythonFeed* self, const MountedFeatures& matrix, IdSpace::Kind space,
               std::size_t number, std::uint64_t memory, double slot_share, std::uint64_t window,
               Ids trial, Ids hottest, DType dtype, ReaderKind reader, Aggregation aggregation,
               const PythonReadThreads& threads, std::uint64_t sharers,
               const std::optional<GivenRows>& given) {
  const FeedOptions options{.space = {space, number},
                            .memory = memory,
                            .slot_share = slot_share,
                            .window = window,
                            .trial = std::move(trial),
                            .hottest = std::move(hottest),
                            .dtype = dtype,
                            .reader = reader,
                            .aggregation = aggregation,
                            .sharers = sharers,
                            .given = to_given(given),
                            .threads = threads.shared()};
  new (self) PythonFeed(PythonFeed::make(matrix, options));
}

/// What Python calls BatchPipeline. Its end does not keep Python from running, since its threads
/// may have to; in a child of fork, which has not the threads, it is harmless.
class PythonPipeline {
 public:
  explicit PythonPipeline(ProcessBound<BatchPipeline> pipeline) : pipeline_(std::move(pipeline)) {}
  PythonPipeline(const PythonPipeline&) = delete;
  PythonPipeline& operator=(const PythonPipeline&) = delete;
  ~PythonPipeline() { stop(); }

  void stop() {
    if (!pipeline_.is_here()) return;
    const ClosingRelease release;
    pipeline_->stop();
  }

  BatchPipeline& here() const {
    if (!pipeline_.is_here())
      throw std::logic_error(
          "this process was forked from the one that iterates; begin a loop of its own here");
    return *pipeline_;
  }

 private:
  ProcessBound<BatchPipeline> pipeline_;
};

/// How many nodes a type has, their times, and their ids, if batches are to have these.
using SampledTypeArguments =
    std::tuple<std::uint64_t, std::optional<std::shared_ptr<MountedFeatures>>,
               std::optional<NodeIds>>;

void make_sampled_graph(SampledGraph* self, const std::vector<SampledTypeArguments>& types,
                        const std::vector<RelationArguments>& relations) {
  std::vector<SampledType> of_types;
  for (const auto& [num_nodes, times, ids] : types)
    of_types.push_back({num_nodes, ids, times.value_or(nullptr)});
  std::vector<SampledRelation> of_relations;
  for (const auto& [graph, source_type, destination_type, fanouts] : relations)
    of_relations.push_back({graph, source_type, destination_type, to_fanouts(fanouts)});
  new (self) SampledGraph(std::move(of_types), std::move(of_relations));
}

void make_pipeline(PythonPipeline* self, const SampledGraph& graph,
                   const std::vector<const PythonFeed*>& feeds,
                   std::shared_ptr<const SeedSource> seeds, const SampleOptions& sample,
                   std::uint64_t first_batch, std::uint64_t window, std::uint64_t prefetch,
                   bool pin_memory, bool external_nodes, bool source_rows, bool turned_edges) {
  std::vector<std::shared_ptr<TableFeed>> tables;
  for (const PythonFeed* feed : feeds) {
    if (!feed->is_here())
      throw std::logic_error("the caches are those of the process that this one was forked from");
    tables.push_back(feed->shared());
  }
  const PipelineOptions options{.sample = sample,
                                .first_batch = first_batch,
                                .window = window,
                                .prefetch = prefetch,
                                .pin_memory = pin_memory,
                                .external_nodes = external_nodes,
                                .source_rows = source_rows,
                                .turned_edges = turned_edges};
  // With the GIL released, since reads of the last loop may have to be waited for.
  new (self) PythonPipeline(without_gil([&] {
    return ProcessBound<BatchPipeline>::make(graph, std::move(tables), std::move(seeds), options);
  }));
}

/// The next batch, or None at the end. Ctrl-C is noticed while waiting.
std::optional<LoadedBatch> next_batch(const PythonPipeline& self) {
  BatchPipeline& pipeline = self.here();
  for (;;) {
    LoadedBatch batch;
    const auto state = without_gil([&] { return pipeline.next(batch, 100ms); });
    if (state == BatchPipeline::Next::kEnd) return std::nullopt;
    if (state == BatchPipeline::Next::kBatch) return batch;
    check_signals();
  }
}

/// The addresses of functions like cudaHostRegister and cudaHostUnregister, or 0.
void set_host_pinning(std::uintptr_t pin, std::uintptr_t unpin) {
  // Never freed: another thread may be using the last ones.
  host_pinning() = pin == 0 ? nullptr
                            : new HostPinning{reinterpret_cast<HostPinning::Pin>(pin),
                                              reinterpret_cast<HostPinning::Unpin>(unpin)};
}

/// The rows of a table as an array, which owns them from then on; or what was made of neighbors.
template <std::vector<BufferPool::Handle> LoadedBatch::* kRows>
nb::ndarray<nb::numpy> take_rows(LoadedBatch& batch, std::size_t table, const PythonFeed& of) {
  const FeatureMatrix& matrix = of->matrix();
  return to_numpy(std::move((batch.*kRows).at(table)), num_dimensions(matrix),
                  batch.num_rows.at(table), static_cast<std::size_t>(matrix.matrix().columns),
                  to_numpy_dtype(of->dtype()));
}

/// The edges of a relation by source, as turn_hops lays them out.
auto take_turned(LoadedBatch& batch, std::size_t relation) {
  return to_array(std::move(batch.turned.at(relation)));
}

/// What they were made of.
auto links_arrays(const Links& links) {
  return std::tuple(to_numpy(std::vector(links.sources)), to_numpy(std::vector(links.destinations)),
                    to_numpy(std::vector(links.times)));
}

std::shared_ptr<const NodeWeights> to_weights(const Column<double>& weights) {
  return weights.size() == 0 ? nullptr : std::make_shared<const NodeWeights>(to_span(weights));
}

std::shared_ptr<const EarlyNodes> to_early(const Column<std::int64_t>& times) {
  return times.size() == 0 ? nullptr : std::make_shared<const EarlyNodes>(to_span(times));
}

void make_negatives(LinkNegatives* self, NegativeMode mode, double amount,
                    NegativeWeighting weighting, bool strict, bool self_loops,
                    const Column<double>& source_weights, const Column<double>& destination_weights,
                    const Column<std::int64_t>& source_times,
                    const Column<std::int64_t>& destination_times) {
  new (self) LinkNegatives{mode,
                           amount,
                           {weighting, strict, self_loops, {}},
                           to_weights(source_weights),
                           to_weights(destination_weights),
                           to_early(source_times),
                           to_early(destination_times)};
}

void make_link_seeds(LinkSeeds* self, std::shared_ptr<const Graph> graph,
                     std::shared_ptr<const Links> links, Ids order, std::uint64_t batch_size,
                     bool disjoint, LinkNegatives negatives, std::size_t source_type,
                     std::size_t destination_type) {
  new (self) LinkSeeds(std::move(graph), std::move(links), std::move(order), batch_size, disjoint,
                       std::move(negatives), {source_type, destination_type});
}

/// A batch of a source, sampled at once, and the ends of its links. Of a source without batches,
/// one without seeds.
auto sample_from(const SampledGraph& graph, const SeedSource& source, std::uint64_t batch,
                 const SampleOptions& options) {
  BatchSeeds seeds;
  TypedSample sample = without_gil([&] {
    if (source.num_batches() != 0) seeds = source.seeds_of(batch, options.key, options.places);
    return graph.sample(seeds, options);
  });
  return std::pair(std::move(sample), to_numpy(std::move(seeds.ends)));
}

}  // namespace

void bind_loading(nb::module_& module) {
  // By the names that TableStats and LoaderStats have.
  nb::class_<FeedStats>(module, "FeedStats")
      .def_ro("rows", &FeedStats::rows)
      .def_ro("hot_rows", &FeedStats::hot_rows)
      .def_ro("window_rows", &FeedStats::window_rows)
      .def_ro("read_rows", &FeedStats::read_rows)
      .def_ro("read_along_rows", &FeedStats::read_along_rows)
      .def_ro("copy_seconds", &FeedStats::copy_seconds)
      .def_ro("wait_seconds", &FeedStats::wait_seconds)
      .def_prop_ro("requests", [](const FeedStats& self) { return self.reads.requests; })
      .def_prop_ro("bytes_read", [](const FeedStats& self) { return self.reads.bytes_read; })
      .def_prop_ro("merged_rows", [](const FeedStats& self) { return self.reads.merged_rows; })
      .def_ro("cache_bytes", &FeedStats::bytes)
      .def_ro("shared_bytes", &FeedStats::shared_bytes)
      .def_ro("is_swept", &FeedStats::is_swept);
  nb::class_<PipelineStats>(module, "PipelineStats")
      .def_ro("batches", &PipelineStats::batches)
      .def_ro("sampled_nodes", &PipelineStats::sampled_nodes)
      .def_ro("sampled_edges", &PipelineStats::sampled_edges)
      .def_ro("sample_seconds", &PipelineStats::sample_seconds)
      .def_ro("feed_seconds", &PipelineStats::feed_seconds)
      .def_ro("sampling_waited_for", &PipelineStats::feed_wait_seconds)
      .def_ro("training_waited_for", &PipelineStats::ready_wait_seconds)
      .def_ro("waited_for_batches", &PipelineStats::taker_wait_seconds)
      .def_ro("held_batches", &PipelineStats::held_batches)
      .def_ro("held_bytes", &PipelineStats::held_bytes)
      .def_ro("feeds", &PipelineStats::feeds)
      .def_ro("feeds_before", &PipelineStats::feeds_before);

  nb::class_<PythonReadThreads>(module, "ReadThreads")
      .def(
          "__init__",
          [](PythonReadThreads* self, std::size_t count) {
            new (self) PythonReadThreads(PythonReadThreads::make(count));
          },
          "count"_a, nb::call_guard<GilRelease>());
  nb::class_<PythonFeed>(module, "TableFeed")
      .def("__init__", &make_feed, "matrix"_a, nb::kw_only(), "space"_a, "number"_a, "memory"_a,
           "slot_share"_a, "window"_a, "trial"_a, "hottest"_a, "dtype"_a, "reader"_a,
           "aggregation"_a, "threads"_a, "sharers"_a, "given"_a.none(), nb::keep_alive<1, 2>(),
           nb::call_guard<GilRelease>())
      .def("shared_rows", &shared_rows);

  nb::class_<SampledGraph>(module, "SampledGraph")
      .def("__init__", &make_sampled_graph, nb::kw_only(), "types"_a, "relations"_a)
      .def("sample", &sample_from, "seeds"_a, "batch"_a, "options"_a);

  nb::class_<LoadedBatch>(module, "LoadedBatch")
      .def_ro("number", &LoadedBatch::number)
      .def("take_sample", [](LoadedBatch& self) { return std::move(self.sample); })
      .def("take_ends", [](LoadedBatch& self) { return to_numpy(std::move(self.ends)); })
      .def("take_turned", &take_turned, "relation"_a)
      .def("take_rows", &take_rows<&LoadedBatch::rows>, "table"_a, "feed"_a)
      .def("take_aggregated", &take_rows<&LoadedBatch::aggregated>, "table"_a, "feed"_a);

  module.def("set_host_pinning", &set_host_pinning, "pin"_a, "unpin"_a);
  nb::class_<PythonPipeline>(module, "BatchPipeline", nb::is_weak_referenceable())
      .def("__init__", &make_pipeline, nb::kw_only(), "graph"_a, "feeds"_a, "seeds"_a, "sample"_a,
           "first_batch"_a, "window"_a, "prefetch"_a, "pin_memory"_a, "external_nodes"_a,
           "source_rows"_a, "turned_edges"_a)
      .def("next", &next_batch)
      .def("stop", &PythonPipeline::stop)
      .def("stats", [](const PythonPipeline& self) { return self.here().stats(); });

  nb::class_<SeedSource>(module, "SeedSource").def_prop_ro("num_batches", &SeedSource::num_batches);
  nb::class_<NodeSeeds, SeedSource>(module, "NodeSeeds")
      .def(nb::init<Ids, Ids, std::uint64_t, std::size_t>(), nb::kw_only(), "nodes"_a, "times"_a,
           "batch_size"_a, "type"_a);
  nb::class_<Links>(module, "Links")
      .def(nb::init<Ids, Ids, Ids>(), nb::kw_only(), "sources"_a, "destinations"_a, "times"_a)
      .def("arrays", &links_arrays)
      .def("checksum", &Links::checksum, nb::call_guard<GilRelease>());
  nb::class_<LinkNegatives>(module, "LinkNegatives")
      .def("__init__", &make_negatives, nb::kw_only(), "mode"_a, "amount"_a, "weighting"_a,
           "strict"_a, "self_loops"_a, "source_weights"_a, "destination_weights"_a,
           "source_times"_a, "destination_times"_a);
  nb::class_<LinkSeeds, SeedSource>(module, "LinkSeeds")
      .def("__init__", &make_link_seeds, nb::kw_only(), "graph"_a, "links"_a, "order"_a,
           "batch_size"_a, "disjoint"_a, "negatives"_a, "source_type"_a, "destination_type"_a,
           nb::call_guard<GilRelease>());
}

}  // namespace graphmount::bindings
