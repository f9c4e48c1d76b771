// Graphs compiled within small budgets of memory: the bytes are those of the file made in memory,
// for any budget, batches and number of threads.
#include <fstream>
#include <numeric>
#include <random>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/graph_compiler.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/verify/verify.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;

// How a graph is compiled, which must not show.
struct Way {
  std::uint64_t memory = kPlenty;
  std::size_t batch = SIZE_MAX;
  int threads = 1;
};

struct Compiled {
  Bytes bytes;
  GraphSummary summary;
};

Compiled compile(const EdgeColumns& columns, GraphOptions options, const Way& way,
                 std::span<const NodeId> new_ids = {}) {
  const TemporaryFolder folder;
  set_num_threads(way.threads);
  options.has_weights = columns.weights.has_value();
  options.has_times = columns.times.has_value();
  options.memory = way.memory;
  options.folder = folder.path();
  GraphCompiler compiler(options);
  add_in_batches(compiler, columns, way.batch == SIZE_MAX ? columns.src.size() : way.batch);
  CHECK(std::filesystem::is_empty(folder.path()));
  const GraphSummary summary = compiler.finish(folder / "g.gl", {}, new_ids, {});
  CHECK_EQUAL(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  CHECK_EQUAL(verify_file(folder / "g.gl", {}).num_problems, 0U);
  return {read_bytes(folder / "g.gl"), summary};
}

void check_ways(const EdgeColumns& columns, const GraphOptions& options,
                const std::vector<Way>& ways, const std::vector<NodeId>& new_ids = {}) {
  const Compiled expected = compile(columns, options, {}, new_ids);
  CHECK_EQUAL(expected.summary.spilled_bytes, 0U);
  for (const Way& way : ways) {
    const Compiled compiled = compile(columns, options, way, new_ids);
    CHECK(compiled.bytes == expected.bytes);
    CHECK_EQUAL(compiled.summary.num_edges, expected.summary.num_edges);
    CHECK((compiled.summary.spilled_bytes > 0) == (way.memory < (1 << 18)));
  }
}

// Mostly evenly spread, but with crowded places: cells of the spool with more than a small budget
// can sort at a time, none of whose lists is too long.
Edges crowded_edges(std::uint64_t seed, std::int64_t num_nodes, int count) {
  Edges edges = random_edges(seed, num_nodes, count);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < edges.src.size(); i += 3) {
    edges.src[i] = 100 + static_cast<NodeId>(random() % 60);
    edges.dst[i] = num_nodes / 2 + static_cast<NodeId>(random() % 60);
  }
  std::shuffle(edges.dst.begin(), edges.dst.end(), random);
  return edges;
}

const std::vector<Way> kWays = {{64 << 10, 997, 1}, {64 << 10, SIZE_MAX, 3}, {200 << 10, 3000, 3}};

// Directions, dedup and parts in many combinations.
std::vector<std::pair<GraphOptions, EntryParts>> many_options(std::uint64_t num_nodes) {
  std::vector<std::pair<GraphOptions, EntryParts>> all;
  for (int i = 0; i < 10; ++i)
    all.push_back({{.num_nodes = num_nodes,
                    .in_lists = i != 3,
                    .out_lists = i != 4,
                    .undirected = i % 5 == 1,
                    .dedup = i % 3 == 0   ? Dedup::kKeepAll
                             : i % 4 == 1 ? Dedup::kKeepFirst
                                          : Dedup::kSumWeights,
                    .drop_self_loops = i % 7 == 2,
                    .wide_indices = i == 5,
                    .keep_source_rows = i % 2 == 0},
                   {.weights = i % 3 != 0 || i == 6, .times = i % 4 >= 2}});
  return all;
}

}  // namespace

TEST(small_budgets_over_many_options) {
  const Edges edges = crowded_edges(1, 20'000, 12'000);
  for (const auto& [options, parts] : many_options(20'000))
    check_ways(edges.columns(parts.weights, parts.times), options, kWays);
}

TEST(sources_sorted_by_owner) {
  const Edges edges = crowded_edges(2, 20'000, 12'000);
  for (const bool by_dst : {true, false}) {
    for (const bool ascending : {true, false}) {
      std::vector<std::size_t> order(edges.src.size());
      std::iota(order.begin(), order.end(), 0);
      const auto& owners = by_dst ? edges.dst : edges.src;
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return ascending ? owners[a] < owners[b] : owners[a] > owners[b];
      });
      Edges sorted;
      for (const std::size_t i : order)
        sorted.add(edges.src[i], edges.dst[i], edges.weights[i], edges.times[i]);
      check_ways(sorted.columns(true), {.num_nodes = 20'000, .keep_source_rows = true}, kWays);
    }
  }
}

// Runs spilled early have narrower cells than later ones.
TEST(ids_that_grow) {
  Edges edges;
  for (const std::int64_t num_nodes : {100, 3000, 30'000, 150'000, 50}) {
    const Edges more = random_edges(static_cast<std::uint64_t>(num_nodes), num_nodes, 3000);
    for (std::size_t i = 0; i < more.src.size(); ++i)
      edges.add(more.src[i], more.dst[i], more.weights[i], more.times[i]);
  }
  for (const bool undirected : {false, true})
    for (const bool keep_source_rows : {false, true})
      for (const Dedup dedup : {Dedup::kKeepAll, Dedup::kSumWeights})
        check_ways(edges.columns(true, undirected),
                   {.num_nodes = {},
                    .undirected = undirected,
                    .dedup = dedup,
                    .keep_source_rows = keep_source_rows},
                   {{128 << 10, 500, 1}, {128 << 10, 3000, 2}});
}

TEST(many_tiny_batches) {
  const Edges edges = random_edges(3, 3000, 6000);
  for (const std::size_t batch : {1, 7})
    check_ways(edges.columns(true, true), {.num_nodes = {}, .keep_source_rows = true},
               {{100 << 10, batch, 1}, {kPlenty, batch, 2}});
}

TEST(a_megabyte) {
  const Edges edges = crowded_edges(4, 30'000, 150'000);
  const GraphOptions options{.num_nodes = {}, .dedup = Dedup::kKeepFirst, .keep_source_rows = true};
  const Compiled expected = compile(edges.columns(true), options, {});
  for (const Way& way : {Way{1 << 20, 10'000, 1}, Way{1 << 20, SIZE_MAX, 3}}) {
    const Compiled compiled = compile(edges.columns(true), options, way);
    CHECK(compiled.bytes == expected.bytes);
    CHECK(compiled.summary.spilled_bytes > (1 << 20));
  }
}

// Cells of cells: those of the first spool have more nodes than the next has cells.
TEST(crowds_in_a_sparse_graph) {
  constexpr NodeId kNodes = (1 << 22) + 1;
  Edges edges;
  edges.add(kNodes - 1, kNodes - 1);
  constexpr NodeId kFirst = 244 << 12;  // of a cell
  for (int i = 0; i < 24'000; ++i) edges.add(i % 500, kFirst + i % 300 / 2 * 27 + i % 2);
  const GraphOptions options{.num_nodes = {}, .out_lists = false};
  const Compiled expected = compile(edges.columns(), options, {});
  const Compiled compiled = compile(edges.columns(), options, {20'000, 1000, 2});
  CHECK(compiled.bytes == expected.bytes);
  CHECK(compiled.summary.spilled_bytes > 3 * 12'000 * sizeof(NarrowPair));
}

TEST(new_ids) {
  Edges edges = crowded_edges(5, 20'000, 12'000);
  std::vector<NodeId> new_ids(20'000);
  std::iota(new_ids.begin(), new_ids.end(), 0);
  std::shuffle(new_ids.begin(), new_ids.end(), std::mt19937_64(5));
  Edges relabelled = edges;
  for (auto* column : {&relabelled.src, &relabelled.dst})
    for (NodeId& id : *column) id = new_ids[static_cast<std::size_t>(id)];
  for (const auto& [options, parts] : many_options(20'000)) {
    if (options.drop_self_loops) continue;
    const Bytes expected =
        compile(relabelled.columns(parts.weights, parts.times), options, {}).bytes;
    for (const Way& way : {Way{}, Way{64 << 10, 997, 2}})
      CHECK(compile(edges.columns(parts.weights, parts.times), options, way, new_ids).bytes ==
            expected);
  }
}

// Another budget than the one that edges came in with, and new ids of 4 bytes.
TEST(a_budget_that_changes) {
  const Edges edges = random_edges(9, 2000, 30'000);
  std::vector<std::uint32_t> narrow(2000);
  std::iota(narrow.begin(), narrow.end(), 0U);
  std::shuffle(narrow.begin(), narrow.end(), std::mt19937_64(5));
  const std::vector<NodeId> wide(narrow.begin(), narrow.end());
  for (const bool is_renumbered : {false, true}) {
    const auto expected = compile(edges.columns(true, true), {.num_nodes = 2000}, {},
                                  is_renumbered ? wide : std::vector<NodeId>());
    for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{64} << 10, kPlenty}) {
      const TemporaryFolder folder;
      GraphCompiler compiler({.num_nodes = 2000,
                              .has_weights = true,
                              .has_times = true,
                              .memory = 4 << 20,
                              .folder = folder.path()});
      add_in_batches(compiler, edges.columns(true, true), 997);
      CHECK(compiler.waiting_bytes() > 0 && compiler.waiting_bytes() <= 2 << 20);
      compiler.set_memory(memory, 2);
      CHECK((compiler.waiting_bytes() == 0) == (memory != kPlenty));
      compiler.set_memory(memory, 2);  // with nothing left to write
      compiler.set_memory(std::max<std::uint64_t>(memory, 64 << 10), 2);
      const auto summary =
          compiler.finish(folder / "g.gl", {}, is_renumbered ? NewIds(narrow) : NewIds(), {});
      CHECK(read_bytes(folder / "g.gl") == expected.bytes);
      CHECK((summary.spilled_bytes > 0) == (memory != kPlenty));
    }
  }
}

// The advice is for what the user gave, of which the compiler has a part.
TEST(a_list_too_long_for_a_budget_that_changed) {
  Edges edges = random_edges(8, 3000, 3000);
  for (int i = 0; i < 5000; ++i) edges.add(i % 3000, 7);
  const TemporaryFolder folder;
  const auto advised = [&](std::uint64_t parts) {
    GraphCompiler compiler({.num_nodes = {}, .out_lists = false, .folder = folder.path()});
    compiler.add(edges.columns());
    compiler.set_memory(64 << 10, parts);
    try {
      compiler.finish(folder / "g.gl", {}, {}, {});
    } catch (const BudgetError& error) {
      const std::string message = error.what(), before = "pass memory='";
      return std::stoull(message.substr(message.find(before) + before.size())) << 20;
    }
    return 0ULL;
  };
  CHECK(advised(1) > 64 << 10);
  CHECK(advised(64) > 8 * advised(1));  // which is rounded up
}

TEST(new_ids_of_four_bytes_that_cannot_be) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(4, 5, 60);
  for (const std::vector<std::uint32_t>& bad :
       {std::vector<std::uint32_t>{0, 1, 2, 3}, {0, 1, 2, 3, 3}, {0, 1, 2, 3, 5}}) {
    GraphCompiler compiler({.num_nodes = 5});
    compiler.add(edges.columns());
    CHECK_THROWS_WITH(compiler.finish(folder / "g.gl", {}, bad, {}), std::invalid_argument,
                      bad.size() < 5 ? "4 new ids" : "given twice, or is not below");
  }
  const std::vector<std::uint32_t> changed = {0, 9};
  CHECK_EQUAL(NewIds(changed)[0], 0U);
  CHECK_THROWS_WITH(NewIds(changed)[1], IdError, "was changed while it was in use: it has 9 now");
}

TEST(counts_appearances_of_what_is_on_disk) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(6, 300, 20'000);
  GraphCompiler compiler({.num_nodes = {}, .memory = 64 << 10, .folder = folder.path()});
  add_in_batches(compiler, edges.columns(), 1500);
  std::vector<std::uint32_t> counts(compiler.num_nodes()), expected(compiler.num_nodes(), 0);
  for (const NodeId src : edges.src) ++expected[static_cast<std::size_t>(src)];
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    std::fill(counts.begin(), counts.end(), 0);
    compiler.add_appearances(counts, [](std::uint64_t) {});
    CHECK(counts == expected);
  }
}

TEST(the_bytes_do_not_depend_on_the_threads) {
  const Edges edges = random_edges(7, 3000, 300'000);
  const GraphOptions options{.num_nodes = 3000, .dedup = Dedup::kSumWeights};
  const Bytes expected = compile(edges.columns(true, true), options, {}).bytes;
  for (const int threads : {2, 7})
    CHECK(compile(edges.columns(true, true), options, {kPlenty, SIZE_MAX, threads}).bytes ==
          expected);
}

// A list must be sorted at once. The budget that the error asks for is enough for it.
TEST(a_list_too_long_for_the_budget) {
  Edges edges = random_edges(8, 3000, 3000);
  for (int i = 0; i < 5000; ++i) edges.add(i % 3000, 7);
  for (const bool with_all : {false, true}) {
    const GraphOptions options{.num_nodes = {}, .out_lists = false, .keep_source_rows = with_all};
    const EdgeColumns columns = edges.columns(with_all, with_all);
    std::string message;
    try {
      compile(columns, options, {64 << 10, 700, 1});
    } catch (const BudgetError& error) {
      message = error.what();
    }
    const std::string begin = "node 7 has ", middle = "must be sorted in memory; pass memory='";
    CHECK(message.starts_with(begin + "500"));
    const std::size_t at = message.find(middle);
    CHECK(at != std::string::npos);
    const std::string advised = message.substr(at + middle.size());
    CHECK(advised.find("MiB' or more") != std::string::npos);
    const std::uint64_t memory = std::stoull(advised) << 20;
    CHECK(memory > 64 << 10 && memory <= 2 << 20);
    CHECK(compile(columns, options, {memory, 700, 1}).bytes == compile(columns, options, {}).bytes);
  }
}

TEST(errors_leave_nothing_behind) {
  const TemporaryFolder folder;
  Edges edges = random_edges(9, 3000, 3000);
  for (int i = 0; i < 5000; ++i) edges.add(i % 3000, 2900);
  const auto write = [&](const GraphOptions& options) {
    GraphCompiler compiler(options);
    add_in_batches(compiler, edges.columns(), 500);
    compiler.finish(folder / "g.gl", {}, {}, {});
  };
  CHECK_THROWS(write({.num_nodes = {}, .memory = 64 << 10, .folder = folder.path()}), BudgetError);
  CHECK_THROWS_WITH(write({.num_nodes = {}, .memory = 64 << 10, .folder = folder / "no"}), IoError,
                    "pass tmp= for another folder");
  CHECK(std::filesystem::is_empty(folder.path()));
  write({.num_nodes = {},
         .memory = kPlenty,
         .folder = folder / "no"});  // which nobody has looked for
}
