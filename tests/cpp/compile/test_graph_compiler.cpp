// Graphs from edges to file and back, over all options: the mounted sections are the lists of a
// slow twin, and the file verifies. What depends on the budget of memory is in
// test_graph_budget.cpp.
#include <cerrno>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/graph_compiler.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/verify/verify.hpp"
#include "naive_lists.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

template <class Item>
std::vector<Item> items(const Graph& graph, const Section* section) {
  CHECK(section != nullptr);
  const Item* data = graph.mount().data<Item>(*section);
  return {data, data + section->rows};
}

// Either width, as int64.
std::vector<std::int64_t> integers(const Graph& graph, SectionKind kind, Direction direction) {
  const Section* section = graph.find(kind, direction);
  CHECK(section != nullptr);
  if (section->dtype == DType::kInt64) return items<std::int64_t>(graph, section);
  const auto narrow = items<std::int32_t>(graph, section);
  return {narrow.begin(), narrow.end()};
}

void check_lists(const Graph& graph, const Edges& edges, const EdgeColumns& columns,
                 const GraphOptions& options, Direction direction) {
  const NaiveLists lists = naive_lists(edges, {.end_node = graph.num_nodes(),
                                               .direction = direction,
                                               .with_times = columns.times.has_value(),
                                               .undirected = options.undirected,
                                               .drop_self_loops = options.drop_self_loops,
                                               .dedup = options.dedup});
  CHECK(integers(graph, SectionKind::kIndptr, direction) == lists.offsets);
  CHECK(integers(graph, SectionKind::kIndices, direction) == lists.neighbors);
  CHECK((graph.find(SectionKind::kIndices, direction)->dtype == DType::kInt64) ==
        options.wide_indices);
  if (columns.weights)
    CHECK(items<float>(graph, graph.find(SectionKind::kWeights, direction)) == lists.weights);
  if (columns.times) CHECK(integers(graph, SectionKind::kTimestamps, direction) == lists.times);
  const Direction stored = graph.stored_direction(direction);
  if (stored == graph.edge_id_direction()) {
    CHECK((graph.find(SectionKind::kSourceRows, stored) != nullptr) == options.keep_source_rows);
    if (options.keep_source_rows)
      CHECK(integers(graph, SectionKind::kSourceRows, stored) == lists.rows);
    return;
  }
  // The edge ids of outgoing lists lead to the same edges among the incoming ones.
  const auto edge_ids = integers(graph, SectionKind::kEdgeIds, stored);
  const auto sources = integers(graph, SectionKind::kIndices, Direction::kIn);
  for (std::size_t i = 0; i < edge_ids.size(); ++i)
    CHECK_EQUAL(sources[static_cast<std::size_t>(edge_ids[i])],
                edges.src[static_cast<std::size_t>(lists.rows[i])]);
}

void check_round_trip(const Edges& edges, const EdgeColumns& columns, const ExternalIds& ids,
                      const GraphOptions& options) {
  const TemporaryFolder folder;
  const auto path = folder / "graph.gl";
  const GraphSummary summary = write_graph(path, columns, ids, options, {});
  const Graph graph(path);
  CHECK_EQUAL(graph.num_nodes(), summary.num_nodes);
  CHECK_EQUAL(graph.num_edges(), summary.num_edges);
  CHECK_EQUAL(std::filesystem::file_size(path), summary.file_bytes);
  CHECK_EQUAL(graph.is_undirected(), options.undirected);
  CHECK_EQUAL(graph.has_lists(Direction::kIn), options.in_lists || options.undirected);
  CHECK_EQUAL(graph.has_lists(Direction::kOut), options.out_lists && !options.undirected);
  for (const Direction direction : {Direction::kIn, Direction::kOut})
    if (graph.has_lists(direction) || options.undirected)
      check_lists(graph, edges, columns, options, direction);
  const Verification verification = verify_file(path, {});
  for (const Problem& problem : verification.problems)
    FAIL(problem.section + " at " + std::to_string(problem.offset) + ": " + problem.message);
  CHECK_EQUAL(verification.num_problems, 0U);
}

// What does write_graph say to this?
#define CHECK_REFUSED(columns, ids, options, Type, why) \
  CHECK_THROWS_WITH(write_graph(folder / "graph.gl", columns, ids, options, {}), Type, why)

}  // namespace

TEST(round_trips_over_all_options) {
  for (unsigned bits = 0; bits < 1024; bits += 7) {
    const auto bit = [&](int place) { return (bits >> place & 1U) != 0; };
    const std::uint64_t num_nodes = 1 + bits % 11;
    const Edges edges =
        random_edges(bits, static_cast<std::int64_t>(num_nodes), static_cast<int>(bits % 60));
    GraphOptions options{.num_nodes = num_nodes,
                         .in_lists = !bit(0),
                         .out_lists = bit(0) || !bit(1),
                         .undirected = bit(2),
                         .dedup = bit(3)
                                      ? (bit(4) && bit(6) ? Dedup::kSumWeights : Dedup::kKeepFirst)
                                      : Dedup::kKeepAll,
                         .drop_self_loops = bit(5),
                         .wide_indices = bit(8),
                         .keep_source_rows = bit(9)};
    ExternalIds ids;
    const Names names(some_names(num_nodes));
    if (bits % 3 == 1) ids.names = names;
    std::vector<std::int64_t> numbers;
    for (std::uint64_t i = 0; i < num_nodes; ++i)
      numbers.push_back(i % 2 == 0 ? static_cast<std::int64_t>(i) : -static_cast<std::int64_t>(i));
    if (bits % 3 == 2) ids.numbers = numbers;
    check_round_trip(edges, edges.columns(bit(6), bit(7)), ids, options);
  }
}

TEST(round_trips_of_more_than_one_chunk) {
  const Edges edges = random_edges(5, 150'000, 400'000);
  const Names names(some_names(150'000));
  const GraphOptions options{.num_nodes = 150'000, .keep_source_rows = true};
  check_round_trip(edges, edges.columns(true, true), {{}, names}, options);
}

TEST(round_trips_of_graphs_with_nothing_in_them) {
  for (const std::uint64_t num_nodes : {0, 1, 5}) {
    const Edges edges;
    check_round_trip(edges, edges.columns(true, true), {}, {.num_nodes = num_nodes});
    check_round_trip(edges, edges.columns(), {}, {.num_nodes = num_nodes, .undirected = true});
  }
  Edges edges;
  check_round_trip(edges, edges.columns(), {}, {});
  edges.add(3, 1);
  check_round_trip(edges, edges.columns(), {}, {});  // four nodes
}

TEST(nodes_are_counted_by_their_ids) {
  Edges edges;
  edges.add(3, 1);
  edges.add(2, 9);
  check_round_trip(edges, edges.columns(), {}, {});
  const auto count = [&](const GraphOptions& options) {
    GraphCompiler compiler(options);
    CHECK_EQUAL(compiler.num_nodes(), options.num_nodes.value_or(0));
    compiler.add(slice(edges.columns(), 0, 1));
    compiler.add(slice(edges.columns(), 1, 10));
    CHECK_EQUAL(compiler.num_rows(), edges.src.size());
    return compiler.num_nodes();
  };
  CHECK_EQUAL(count({}), 10U);
  CHECK_EQUAL(count({.num_nodes = 12}), 12U);
  edges.add(20, 20);  // a node although its edge is dropped
  CHECK_EQUAL(count({}), 21U);
  CHECK_EQUAL(count({.num_nodes = {}, .drop_self_loops = true}), 21U);
  check_round_trip(edges, edges.columns(), {}, {.num_nodes = {}, .drop_self_loops = true});
}

TEST(the_order_has_a_fingerprint) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(1, 3, 5);
  const auto order = [&](const ExternalIds& ids) {
    write_graph(folder / "graph.gl", edges.columns(), ids, {.num_nodes = 3}, {});
    return Graph(folder / "graph.gl").mount().header().order;
  };
  const std::vector<std::int64_t> numbers = {4, 5, 6}, other = {4, 6, 5};
  CHECK_EQUAL(order({}), 0U);
  CHECK(order({numbers, {}}) != 0 && order({numbers, {}}) == order({numbers, {}}));
  CHECK(order({numbers, {}}) != order({other, {}}));
  CHECK(order({{}, Names{"a", "bc", "d"}}) != order({{}, Names{"ab", "c", "d"}}));
}

TEST(refuses_what_does_not_fit_together) {
  const TemporaryFolder folder;
  Edges edges = random_edges(1, 3, 4);
  edges.add(2, 0);
  const EdgeColumns columns = edges.columns();
  EdgeColumns bad = columns;
  bad.src = bad.src.first(4);
  CHECK_REFUSED(bad, {}, {}, std::invalid_argument, "dst has 5 entries for 4 edges");
  bad = edges.columns(true, true);
  bad.weights = bad.weights->first(2);
  CHECK_REFUSED(bad, {}, {}, std::invalid_argument, "weights has 2 entries for 5 edges");
  bad = edges.columns(true, true);
  bad.times = bad.times->first(2);
  CHECK_REFUSED(bad, {}, {}, std::invalid_argument, "timestamps has 2 entries for 5 edges");
  const GraphOptions no_lists{.num_nodes = 3, .in_lists = false, .out_lists = false};
  CHECK_REFUSED(columns, {}, no_lists, std::invalid_argument, "at least one direction");
  const GraphOptions sum{.num_nodes = 3, .dedup = Dedup::kSumWeights};
  CHECK_REFUSED(columns, {}, sum, std::invalid_argument, "no weights are given");
  const Names names{"a", "b", "c"}, twins{"a", "b", "a"};
  const GraphOptions four{.num_nodes = 4};
  CHECK_REFUSED(columns, (ExternalIds{{}, names}), four, std::invalid_argument,
                "4 nodes and 3 node_ids");
  CHECK_REFUSED(columns, (ExternalIds{{}, twins}), {}, SourceError,
                "nodes 0 and 2 have the same external id 'a'");
  const GraphOptions two{.num_nodes = 2};
  CHECK_REFUSED(columns, {}, two, SourceError, "is not below num_nodes=2");
  for (const std::uint64_t count : {UINT64_MAX, UINT64_MAX / 2, kMaxNodes + 1}) {
    const GraphOptions huge{.num_nodes = count};
    CHECK_REFUSED(columns, {}, huge, std::invalid_argument, "too many");
  }
  edges.dst[2] = INT64_MAX;
  CHECK_REFUSED(edges.columns(), {}, {}, SourceError, "edge 2: node id 9223372036854775807");
  edges.dst[2] = INT64_MIN;
  CHECK_REFUSED(edges.columns(), {}, {}, SourceError, "edge 2: node id -9223372036854775808");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST(every_batch_must_have_what_the_options_say) {
  const Edges edges = random_edges(1, 3, 4);
  GraphCompiler plain({}), full({.num_nodes = {}, .has_weights = true, .has_times = true});
  CHECK_THROWS_WITH(plain.add(edges.columns(true)), std::invalid_argument,
                    "weights were not expected");
  CHECK_THROWS_WITH(plain.add(edges.columns(false, true)), std::invalid_argument,
                    "timestamps were not expected");
  CHECK_THROWS_WITH(full.add(edges.columns(true)), std::invalid_argument, "timestamps are missing");
  CHECK_THROWS_WITH(full.add(edges.columns(false, true)), std::invalid_argument,
                    "weights are missing");
  CHECK_EQUAL(plain.num_rows() + full.num_rows(), 0U);
}

TEST(a_bad_batch_leaves_no_edge_behind) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(1, 30, 400);
  Edges bad = random_edges(2, 30, 400);
  bad.src[399] = -1;
  GraphCompiler compiler({.num_nodes = 30, .keep_source_rows = true});
  compiler.add(slice(edges.columns(), 0, 150));
  CHECK_THROWS_WITH(compiler.add(bad.columns()), SourceError, "edge 549: node id -1 is negative");
  compiler.add(slice(edges.columns(), 150, 250));
  compiler.finish(folder / "a.gl", {}, {}, {});
  write_graph(folder / "b.gl", edges.columns(), {}, {.num_nodes = 30, .keep_source_rows = true},
              {});
  CHECK(read_bytes(folder / "a.gl") == read_bytes(folder / "b.gl"));
}

// The first call of progress comes when the number of nodes has been found good.
TEST(refuses_an_implausible_number_of_nodes) {
  const TemporaryFolder folder;
  constexpr NodeId kMany = 1 << 24;
  const auto compile = [&](NodeId largest, int num_edges, const GraphOptions& options) {
    Edges edges;
    for (int i = 1; i < num_edges; ++i) edges.add(i % 10, 0);
    edges.add(largest, 0);
    write_graph(folder / "g.gl", edges.columns(), {}, options,
                [](std::uint64_t, std::uint64_t) { throw std::domain_error("plausible"); });
  };
  CHECK_THROWS(compile(kMany - 1, 1, {}), std::domain_error);
  CHECK_THROWS_WITH(compile(kMany, 1, {}), SourceError,
                    "node id 16777216 would make a graph of 16777217 nodes for 1 edge; pass "
                    "num_nodes=");
  CHECK_THROWS(compile(kMany, kMany / 64 - 1, {}), SourceError);
  CHECK_THROWS(compile(kMany, kMany / 64, {}), std::domain_error);
  CHECK_THROWS(compile(kMany, 1, {.num_nodes = kMany + 1}), std::domain_error);
  CHECK_THROWS(compile((NodeId{1} << 47) - 1, 100'000, {}), SourceError);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST(new_ids_are_those_of_relabelled_edges) {
  const TemporaryFolder folder;
  const std::vector<NodeId> new_ids = {3, 0, 4, 1, 2};
  const Names names(some_names(5));
  for (const bool undirected : {false, true}) {
    const Edges edges = random_edges(4, 5, 60);
    Edges relabelled = edges;
    for (auto* column : {&relabelled.src, &relabelled.dst})
      for (NodeId& id : *column) id = new_ids[static_cast<std::size_t>(id)];
    GraphOptions options{.num_nodes = 5,
                         .undirected = undirected,
                         .has_weights = true,
                         .has_times = true,
                         .keep_source_rows = true};
    write_graph(folder / "a.gl", relabelled.columns(true, true), {{}, names}, options, {});
    GraphCompiler compiler(options);
    compiler.add(edges.columns(true, true));
    compiler.finish(folder / "b.gl", {{}, names}, new_ids, {});
    CHECK(read_bytes(folder / "a.gl") == read_bytes(folder / "b.gl"));
  }
  GraphCompiler compiler({.num_nodes = 6});
  CHECK_THROWS_WITH(compiler.finish(folder / "c.gl", {}, new_ids, {}), std::invalid_argument,
                    "6 nodes and 5 new ids");
  for (const NodeId bad : {NodeId{-1}, NodeId{5}, new_ids[1]}) {
    std::vector<NodeId> others = new_ids;
    others[0] = bad;
    GraphCompiler another({.num_nodes = 5});
    CHECK_THROWS_WITH(another.finish(folder / "c.gl", {}, others, {}), std::invalid_argument,
                      "is given twice, or is not below the number of nodes");
  }
  CHECK(!std::filesystem::exists(folder / "c.gl"));
}

TEST(nothing_follows_the_end) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(4, 5, 60);
  GraphCompiler compiler({});
  compiler.add(edges.columns());
  std::vector<std::uint32_t> counts(compiler.num_nodes());
  compiler.finish(folder / "g.gl", {}, {}, {});
  const char* const why = "the graph has been written already";
  CHECK_THROWS_WITH(compiler.add(edges.columns()), std::invalid_argument, why);
  CHECK_THROWS_WITH(compiler.num_nodes(), std::invalid_argument, why);
  CHECK_THROWS_WITH(compiler.add_appearances(counts, {}), std::invalid_argument, why);
  CHECK_THROWS_WITH(compiler.num_entries(), std::invalid_argument, why);
  CHECK_THROWS_WITH(compiler.waiting_bytes(), std::invalid_argument, why);
  CHECK_THROWS_WITH(compiler.set_memory(1, 1), std::invalid_argument, why);
  CHECK_THROWS_WITH(compiler.finish(folder / "g.gl", {}, {}, {}), std::invalid_argument, why);
}

TEST(counts_appearances_in_the_first_lists) {
  const Edges edges = random_edges(6, 20, 300);
  for (int bits = 0; bits < 8; ++bits) {
    const bool in_lists = (bits & 1) != 0, undirected = (bits & 2) != 0, no_loops = (bits & 4) != 0;
    GraphCompiler compiler({.num_nodes = 22,
                            .in_lists = in_lists,
                            .undirected = undirected,
                            .drop_self_loops = no_loops});
    const auto ignore = [](std::uint64_t) {};
    std::vector<std::uint32_t> counts(22, 99), expected(22, 99);
    compiler.add_appearances(counts, ignore);
    CHECK(counts == expected);
    compiler.add(edges.columns());
    compiler.add_appearances(counts, ignore);
    for (std::size_t i = 0; i < edges.src.size(); ++i) {
      const NodeId src = edges.src[i], dst = edges.dst[i];
      if (src == dst && no_loops) continue;
      if (in_lists || undirected) ++expected[static_cast<std::size_t>(src)];
      if ((!in_lists && !undirected) || (undirected && src != dst))
        ++expected[static_cast<std::size_t>(dst)];
    }
    CHECK(counts == expected);
  }
}

TEST(what_progress_throws_ends_the_work) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(1, 30, 500);
  const GraphOptions options{
      .num_nodes = {}, .dedup = Dedup::kKeepFirst, .memory = 20'000, .folder = folder.path()};
  std::vector<std::uint64_t> steps;
  write_graph(folder / "good.gl", edges.columns(), {}, options,
              [&](std::uint64_t done, std::uint64_t total) {
                CHECK_EQUAL(total, 1500U);
                steps.push_back(done);
              });
  CHECK(steps.size() > 10);
  CHECK(std::is_sorted(steps.begin(), steps.end()));
  CHECK_EQUAL(steps.front(), 0U);
  CHECK_EQUAL(steps.back(), 1500U);
  for (std::size_t last = 1; last <= steps.size(); ++last) {
    std::size_t calls = 0;
    const Progress stop = [&](std::uint64_t, std::uint64_t) {
      if (++calls == last) throw std::domain_error("enough");
    };
    CHECK_THROWS(write_graph(folder / "bad.gl", edges.columns(), {}, options, stop),
                 std::domain_error);
    CHECK_EQUAL(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }
}

TEST(names_where_it_cannot_write) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(1, 3, 5);
  CHECK_THROWS_WITH(write_graph(folder / "no" / "g.gl", edges.columns(), {}, {}, {}), IoError,
                    "No such file or directory");
}
