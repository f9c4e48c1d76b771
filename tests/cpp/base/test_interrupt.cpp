// A call can be ended wherever it asks: the caller gets what was thrown, no thread is left behind,
// and the next call gives what it would have given.
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/compile/hot_order.hpp"
#include "graphmount/graph/ids/id_map.hpp"
#include "graphmount/graph/node_ids.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"
#include "graphmount/sampling/neighbors/random_fanout.hpp"
#include "graphmount/sampling/walks/random_walk.hpp"
#include "graphmount/sampling/walks/skip_gram.hpp"
#include "graphmount/sampling/walks/visit_counts.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/table/reading/gather.hpp"
#include "graphmount/verify/verify.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;
using namespace std::chrono_literals;

namespace {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// How often `call` asks whether it is to end.
int count_questions(const std::function<void()>& call) {
  int count = 0;
  const std::function<void()> ask = [&] { ++count; };
  const InterruptScope scope(ask, 0ns);
  call();
  return count;
}

/// Whether `call` ends with what is thrown at its n-th question.
bool is_ended(const std::function<void()>& call, int n) {
  const std::function<void()> ask = [&] {
    if (--n == 0) throw Interrupted();
  };
  const InterruptScope scope(ask, 0ns);
  try {
    call();
  } catch (const Interrupted&) {
    return true;
  }
  return false;
}

/// Ends `call` at its first questions, at its last, and at some between. After each, it must give
/// the same as ever.
template <class Call>
void end_everywhere(const Call& call) {
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    const auto expected = call();
    const int questions = count_questions([&] { static_cast<void>(call()); });
    CHECK(questions > 0);
    int num_ended = 0;
    for (int n = 1; n <= questions; n += n < 4 ? 1 : 1 + questions / 6) {
      num_ended += is_ended([&] { static_cast<void>(call()); }, n);
      CHECK(call() == expected);
    }
    // With several threads, how many questions the caller has is a matter of luck.
    CHECK(num_ended > 0);
  }
}

std::vector<std::int64_t> values_of(const ResultBuffer& buffer) {
  return {buffer->data(), buffer->data() + buffer->size()};
}

constexpr int kNumNodes = 8'000, kNumEdges = 50'000;

/// A graph with all there is, and some nodes of it.
class SomeGraph {
 public:
  SomeGraph() : edges_(random_edges(7, kNumNodes, kNumEdges)), nodes_(kNumNodes) {
    std::vector<std::int64_t> numbers(kNumNodes);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 3 * static_cast<std::int64_t>(i) - 5;
    write_graph(path(), edges_.columns(true, false), {numbers, {}}, {.num_nodes = kNumNodes}, {});
    std::iota(nodes_.begin(), nodes_.end(), 0);
  }
  std::filesystem::path path() const { return folder_ / "g.gl"; }
  std::filesystem::path other_path() const { return folder_ / "other.gl"; }
  std::shared_ptr<const Graph> open() const { return std::make_shared<const Graph>(path()); }
  const Edges& edges() const { return edges_; }
  const std::vector<NodeId>& nodes() const { return nodes_; }
  /// Files in the folder, with names or without.
  std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()),
                      std::filesystem::directory_iterator()));
  }

 private:
  TemporaryFolder folder_;
  Edges edges_;
  std::vector<NodeId> nodes_;
};

}  // namespace

TEST(nobody_is_asked_without_a_scope_or_too_often) {
  check_interrupt();
  int outer = 0, inner = 0;
  const std::function<void()> ask_outer = [&] { ++outer; }, ask_inner = [&] { ++inner; };
  const InterruptScope scope(ask_outer, 0ns);
  check_interrupt();
  {
    const InterruptScope patient(ask_inner, 1h);
    check_interrupt();
    CHECK_EQUAL(inner, 0);
  }
  {
    const InterruptScope eager(ask_inner, 0ns);
    check_interrupt();
    CHECK_EQUAL(inner, 1);
    std::thread([] { check_interrupt(); }).join();
    CHECK_EQUAL(inner, 1);
  }
  CHECK_EQUAL(outer, 1);
  check_interrupt();
  CHECK_EQUAL(outer, 2);
}

TEST(a_range_that_was_taken_is_run) {
  // Others may wait for its turn, so it may not be lost between taking and running it.
  set_num_threads(4);
  for (int n = 1; n < 50; ++n) {
    std::atomic<std::int64_t> last = -1, num_run = 0;
    const bool ended = is_ended(
        [&] {
          parallel_for(100, 1, [&](std::size_t begin, std::size_t) {
            ++num_run;
            const auto i = static_cast<std::int64_t>(begin);
            for (auto known = last.load(); i > known && !last.compare_exchange_weak(known, i);) {
            }
          });
        },
        n);
    CHECK_EQUAL(num_run.load(), last.load() + 1);
    CHECK(ended || num_run == 100);
  }
}

TEST(threads_that_work_for_the_call_end_too) {
  set_num_threads(4);
  std::atomic<int> num_abandoned = 0, num_at_work = 0;
  const auto caller = std::this_thread::get_id();
  const std::function<void()> ask = [&] {
    if (num_at_work == 3) throw Interrupted();
  };
  const InterruptScope scope(ask, 0ns);
  CHECK_THROWS(parallel_for(4, 1,
                            [&](std::size_t, std::size_t) {
                              // Work without an end, in all threads but that of the caller.
                              while (std::this_thread::get_id() == caller)
                                if (num_at_work == 3) return;
                              ++num_at_work;
                              try {
                                for (;;) check_interrupt();
                              } catch (const Abandoned&) {
                                ++num_abandoned;
                                throw;
                              }
                            }),
               Interrupted);
  CHECK_EQUAL(num_abandoned.load(), 3);
}

TEST(reading_calls) {
  const SomeGraph some;
  const auto graph = some.open();
  const auto& nodes = some.nodes();
  end_everywhere([&] {
    const NeighborSample sample =
        sample_neighbors(*graph, nodes, {}, {.fanouts = {4, 3}, .key = RandomKey(1)});
    return std::tuple(values_of(sample.nodes), values_of(sample.edge_index),
                      values_of(sample.edge_ids));
  });
  end_everywhere(
      [&] { return values_of(random_fanout(*graph, nodes, {.k = 5, .key = RandomKey(1)})); });
  for (const double p : {1.0, 0.5}) {
    const WalkOptions options{.p = p};
    end_everywhere(
        [&] { return values_of(random_walk(*graph, {nodes, 10, RandomKey(1)}, options)); });
    end_everywhere([&] {
      const VisitCounts counts = count_visits(*graph, {nodes, 5, RandomKey(1), 2}, options, 3);
      return std::tuple(counts.indptr, counts.nodes, counts.counts);
    });
    end_everywhere(
        [&] { return SkipGramWalks(*graph, {nodes, 10, RandomKey(1)}, options, 3).num_pairs(); });
    // One walker alone asks too, at some of its steps.
    const auto one = std::span(nodes).first(1);
    end_everywhere(
        [&] { return values_of(random_walk(*graph, {one, 5000, RandomKey(1)}, options)); });
  }
  end_everywhere([&] {
    std::vector<NodeId> out(nodes.size());
    sample_negatives(*graph, nodes, EdgeEnd::kSource,
                     {NegativeWeighting::kUniform, true, false, {}}, RandomKey(1), out);
    return out;
  });
  end_everywhere([&] {
    const NodeIds ids(graph);
    std::vector<std::int64_t> numbers(nodes.size());
    std::vector<NodeId> back(nodes.size());
    ids.to_external(nodes, numbers);
    ids.to_internal(numbers, back);
    return back;
  });
  end_everywhere([&] { return graph->prefetch(nodes, Direction::kIn); });
  end_everywhere([&] { return verify_file(some.path(), {}).num_problems; });
}

TEST(gathering) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kRows = 20'000, kColumns = 16;
  FeatureWriter writer(folder / "x.gd", {.rows = kRows, .columns = kColumns});
  std::vector<float> values(kRows * kColumns);
  std::iota(values.begin(), values.end(), 0.0F);
  writer.append(std::as_bytes(std::span(values)));
  writer.finish();
  const FeatureMatrix matrix(folder / "x.gd");
  const FeatureGather gather(matrix);
  std::vector<std::int64_t> ids(3 * kRows);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * 7919 % kRows);
  for (const ReaderKind kind : {ReaderKind::kMapped, ReaderKind::kPread, ReaderKind::kUring}) {
    if (why_no_reader(matrix, kind)) continue;
    for (const DType dtype : {DType::kFloat32, DType::kFloat64})
      end_everywhere([&] {
        std::vector<std::byte> out(ids.size() * kColumns * traits_of(dtype).item_bytes);
        gather.gather(ids, dtype, out, kind);
        return out;
      });
  }
}

TEST(compiling) {
  const SomeGraph some;
  std::vector<std::uint32_t> counts(kNumNodes);
  for (const NodeId node : some.edges().src) ++counts[static_cast<std::size_t>(node)];
  const auto files_before = some.num_files();
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{8} << 20}) {
    const auto compile = [&] {
      write_graph(some.other_path(), some.edges().columns(true, true), {},
                  {.num_nodes = kNumNodes, .memory = memory, .folder = some.path().parent_path()},
                  {});
      const Bytes bytes = read_bytes(some.other_path());
      std::filesystem::remove(some.other_path());
      return bytes;
    };
    end_everywhere(compile);
    CHECK_EQUAL(some.num_files(), files_before);
  }
  end_everywhere([&] {
    std::vector<NodeId> ids(counts.size());
    rank_by_count<NodeId>(counts, ids);
    return ids;
  });
}

TEST(a_map_of_keys_is_whole_after_an_interrupt) {
  // Whenever it is ended, the keys that it has are found, and the next call adds the others.
  std::vector<std::int64_t> keys(200'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i * 17);
  std::vector<NodeId> first(keys.size()), second;
  const auto add = [&](NumberMap& map) { map.add(keys, {}, first, second); };
  const int questions = count_questions([&] {
    NumberMap map;
    add(map);
  });
  for (int n = 1; n <= questions; ++n) {
    NumberMap map;
    static_cast<void>(is_ended([&] { add(map); }, n));
    std::vector<NodeId> found(map.keys().size());
    map.find(map.keys(), found);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK_EQUAL(found[i], static_cast<NodeId>(i));
    add(map);
    CHECK_EQUAL(map.keys().size(), keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) CHECK_EQUAL(first[i], static_cast<NodeId>(i));
  }
}
