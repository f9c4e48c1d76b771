// Graphs from edges to file and back, over all options: the mounted sections are the lists of
// build_lists, and the file verifies.
#include <cerrno>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/error.hpp"
#include "graphmount/graph.hpp"
#include "graphmount/graph_writer.hpp"
#include "graphmount/parallel.hpp"
#include "graphmount/verify.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"

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
  const NeighborLists lists =
      build_lists(columns, direction,
                  {graph.num_nodes(), options.undirected, options.dedup, options.drop_self_loops});
  CHECK(integers(graph, SectionKind::kIndptr, direction) == lists.indptr);
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
  for (unsigned bits = 0; bits < 1024; bits += 5) {
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
    if (bits % 3 == 1) ids.names = some_names(num_nodes);
    std::vector<std::int64_t> numbers;
    for (std::uint64_t i = 0; i < num_nodes; ++i)
      numbers.push_back(i % 2 == 0 ? static_cast<std::int64_t>(i) : -static_cast<std::int64_t>(i));
    if (bits % 3 == 2) ids.numbers = numbers;
    check_round_trip(edges, edges.columns(bit(6), bit(7)), ids, options);
  }
}

TEST(round_trips_of_more_than_one_chunk) {
  const Edges edges = random_edges(5, 150'000, 400'000);
  const ExternalIds ids{{}, some_names(150'000)};
  const GraphOptions options{.num_nodes = 150'000, .keep_source_rows = true};
  check_round_trip(edges, edges.columns(true, true), ids, options);
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

TEST(the_bytes_do_not_depend_on_the_threads) {
  const Edges edges = random_edges(5, 3000, 200'000);
  const TemporaryFolder folder;
  Bytes first;
  for (const int threads : {1, 2, 7}) {
    set_num_threads(threads);
    write_graph(folder / "graph.gl", edges.columns(true, true), {},
                {.num_nodes = 3000, .dedup = Dedup::kSumWeights, .keep_source_rows = true}, {});
    const Bytes bytes = read_bytes(folder / "graph.gl");
    if (first.empty()) first = bytes;
    CHECK(bytes == first);
  }
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
  CHECK(order({{}, {"a", "bc", "d"}}) != order({{}, {"ab", "c", "d"}}));
}

TEST(refuses_what_does_not_fit_together) {
  const TemporaryFolder folder;
  Edges edges = random_edges(1, 3, 4);
  edges.add(2, 0);
  const EdgeColumns columns = edges.columns();
  EdgeColumns bad = columns;
  bad.src = bad.src.first(4);
  CHECK_REFUSED(bad, {}, {}, std::invalid_argument, "src has 4 entries and dst has 5");
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
  const ExternalIds names{{}, {"a", "b", "c"}};
  const GraphOptions four{.num_nodes = 4};
  CHECK_REFUSED(columns, names, four, std::invalid_argument, "num_nodes=4 does not fit 3 node_ids");
  const ExternalIds twins{{}, {"a", "b", "a"}};
  CHECK_REFUSED(columns, twins, {}, SourceError, "nodes 0 and 2 have the same external id 'a'");
  const GraphOptions two{.num_nodes = 2};
  CHECK_REFUSED(columns, {}, two, SourceError, "is not below num_nodes=2");
  for (const std::uint64_t count : {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 8 - 1}) {
    const GraphOptions huge{.num_nodes = count};
    CHECK_REFUSED(columns, {}, huge, std::invalid_argument, "too many");
  }
  edges.dst[2] = INT64_MAX;
  CHECK_REFUSED(edges.columns(), {}, {}, std::invalid_argument, "too many");
  CHECK(!std::filesystem::exists(folder / "graph.gl"));
}

TEST(what_progress_throws_ends_the_work) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(1, 3, 5);
  std::vector<std::uint64_t> steps;
  write_graph(folder / "good.gl", edges.columns(), {}, {},
              [&](std::uint64_t done, std::uint64_t total) {
                CHECK_EQUAL(total, 6U);
                steps.push_back(done);
              });
  CHECK(steps == std::vector<std::uint64_t>({0, 1, 2, 3, 4, 5, 6}));
  for (std::uint64_t last = 0; last < 6; ++last) {
    const Progress stop = [&](std::uint64_t done, std::uint64_t) {
      if (done == last) throw std::domain_error("enough");
    };
    CHECK_THROWS(write_graph(folder / "bad.gl", edges.columns(), {}, {}, stop), std::domain_error);
  }
  CHECK_EQUAL(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(names_where_it_cannot_write) {
  const TemporaryFolder folder;
  const Edges edges = random_edges(1, 3, 5);
  CHECK_THROWS_WITH(write_graph(folder / "no" / "g.gl", edges.columns(), {}, {}, {}), IoError,
                    "No such file or directory");
}
