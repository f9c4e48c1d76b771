// Copies of parts of lists: the values, and what is refused of a damaged file.
#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/list_reads.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 40;
constexpr std::uint64_t kEdges = 600;

class ExampleGraph {
 public:
  ExampleGraph() {
    const Edges edges = random_edges(3, kNodes, static_cast<int>(kEdges));
    write_graph(path(), edges.columns(true, true), {},
                {.num_nodes = kNodes, .keep_source_rows = true}, {});
    good_ = read_bytes(path());
  }

  std::filesystem::path path() const { return folder_ / "graph.gl"; }

  /// The graph with one item of a section changed; `byte` becomes its place.
  Graph open_damaged(SectionKind kind, Direction direction, std::uint64_t at, auto value) {
    write_bytes(path(), good_);
    Bytes bytes = good_;
    byte = Graph(path()).find(kind, direction)->offset + at * sizeof value;
    put(bytes, byte, value);
    write_bytes(path(), bytes);
    return Graph(path());
  }

  std::uint64_t byte = 0;

 private:
  TemporaryFolder folder_;
  Bytes good_;
};

std::string place_of(const char* section, std::uint64_t byte) {
  return std::string("section ") + section + ", byte " + std::to_string(byte) + ": ";
}

}  // namespace

TEST(copies_are_what_the_file_has) {
  const ExampleGraph example;
  const Graph graph(example.path());
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    const auto offsets =
        read_list<std::int64_t>(graph, SectionKind::kIndptr, direction, 0, kNodes + 1);
    CHECK_EQUAL(offsets.front(), 0);
    CHECK_EQUAL(offsets.back(), static_cast<std::int64_t>(kEdges));
    const auto neighbors =
        read_list<std::int64_t>(graph, SectionKind::kIndices, direction, 0, kEdges);
    const auto weights = read_list<float>(graph, SectionKind::kWeights, direction, 0, kEdges);
    const auto times =
        read_list<std::int64_t>(graph, SectionKind::kTimestamps, direction, 0, kEdges);
    const auto* stored =
        graph.mount().data<std::int32_t>(*graph.find(SectionKind::kIndices, direction));
    for (std::size_t i = 0; i < kEdges; ++i) CHECK_EQUAL(neighbors[i], stored[i]);
    for (std::uint64_t first = 0; first < kEdges; first += 7) {
      const std::uint64_t count = std::min<std::uint64_t>(13, kEdges - first);
      const auto some =
          read_list<std::int64_t>(graph, SectionKind::kIndices, direction, first, count);
      CHECK(std::equal(some.begin(), some.end(),
                       neighbors.begin() + static_cast<std::ptrdiff_t>(first)));
    }
    const std::vector<EdgeId> positions = {599, 0, 0, 17};
    const auto some_weights =
        gather_list<float>(graph, SectionKind::kWeights, direction, positions);
    const auto some_times =
        gather_list<std::int64_t>(graph, SectionKind::kTimestamps, direction, positions);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      CHECK_EQUAL(some_weights[i], weights[static_cast<std::size_t>(positions[i])]);
      CHECK_EQUAL(some_times[i], times[static_cast<std::size_t>(positions[i])]);
    }
  }
  CHECK(read_list<std::int64_t>(graph, SectionKind::kIndices, Direction::kIn, kEdges, 0).empty());
  const auto rows =
      read_list<std::int64_t>(graph, SectionKind::kSourceRows, Direction::kIn, 0, kEdges);
  const std::vector<EdgeId> edges = {599, 0, 0, 17};
  std::vector<std::int64_t> some_rows(edges.size());
  gather_source_rows(graph, edges, some_rows);
  for (std::size_t i = 0; i < edges.size(); ++i)
    CHECK_EQUAL(some_rows[i], rows[static_cast<std::size_t>(edges[i])]);
}

TEST(parts_that_are_not_there) {
  const ExampleGraph example;
  const Graph graph(example.path());
  const auto read = [&](std::uint64_t first, std::uint64_t count) {
    return read_list<std::int64_t>(graph, SectionKind::kIndices, Direction::kIn, first, count);
  };
  CHECK_THROWS_WITH(read(0, kEdges + 1), IdError, "has 600 items");
  CHECK_THROWS_WITH(read(kEdges + 1, 0), IdError, "has 600 items");
  CHECK_THROWS_WITH(read(5, UINT64_MAX), IdError, "has 600 items");
  CHECK_THROWS_WITH(read_list<std::int64_t>(graph, SectionKind::kEdgeIds, Direction::kIn, 0, 1),
                    MissingDataError, "no edge ids");
  const std::vector<EdgeId> bad = {0, static_cast<EdgeId>(kEdges)};
  CHECK_THROWS_WITH(gather_list<float>(graph, SectionKind::kWeights, Direction::kIn, bad), IdError,
                    "edge 600");
  std::vector<std::int64_t> out(2);
  CHECK_THROWS_WITH(gather_source_rows(graph, bad, out), IdError, "edge 600");
  const TemporaryFolder folder;
  write_graph(folder / "plain.gl", random_edges(3, kNodes, 9).columns(false, false), {},
              {.num_nodes = kNodes}, {});
  const std::vector<EdgeId> good = {0, 1};
  CHECK_THROWS_WITH(gather_source_rows(Graph(folder / "plain.gl"), good, out), MissingDataError,
                    "no source rows");
}

TEST(damage_is_refused_with_its_place) {
  ExampleGraph example;
  for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{601}, INT64_MAX, INT64_MIN}) {
    const Graph graph = example.open_damaged(SectionKind::kIndptr, Direction::kIn, 5, value);
    CHECK_THROWS_WITH(read_list<std::int64_t>(graph, SectionKind::kIndptr, Direction::kIn, 0, 41),
                      FormatError, place_of("indptr (in)", example.byte));
    CHECK_THROWS_WITH(read_list<std::int64_t>(graph, SectionKind::kIndptr, Direction::kIn, 5, 1),
                      FormatError, place_of("indptr (in)", example.byte));
    CHECK_EQUAL(read_list<std::int64_t>(graph, SectionKind::kIndptr, Direction::kIn, 6, 35).size(),
                35U);
  }
  {
    const Graph graph =
        example.open_damaged(SectionKind::kIndptr, Direction::kIn, 0, std::int64_t{1});
    CHECK_THROWS_WITH(read_list<std::int64_t>(graph, SectionKind::kIndptr, Direction::kIn, 0, 1),
                      FormatError, place_of("indptr (in)", example.byte));
  }
  {
    const Graph graph =
        example.open_damaged(SectionKind::kIndptr, Direction::kOut, kNodes, std::int64_t{599});
    CHECK_THROWS_WITH(
        read_list<std::int64_t>(graph, SectionKind::kIndptr, Direction::kOut, kNodes, 1),
        FormatError, place_of("indptr (out)", example.byte));
  }
  for (const std::int32_t value : {-1, 40, INT32_MAX}) {
    const Graph graph = example.open_damaged(SectionKind::kIndices, Direction::kIn, 7, value);
    CHECK_THROWS_WITH(read_list<std::int64_t>(graph, SectionKind::kIndices, Direction::kIn, 3, 9),
                      FormatError, place_of("indices (in)", example.byte));
  }
  for (const std::int32_t value : {-1, 600}) {
    const Graph graph = example.open_damaged(SectionKind::kEdgeIds, Direction::kOut, 7, value);
    CHECK_THROWS_WITH(
        read_list<std::int64_t>(graph, SectionKind::kEdgeIds, Direction::kOut, 0, kEdges),
        FormatError, place_of("edge ids (out)", example.byte));
  }
  {
    const Graph graph =
        example.open_damaged(SectionKind::kSourceRows, Direction::kIn, 3, std::int32_t{-2});
    CHECK_THROWS_WITH(
        read_list<std::int64_t>(graph, SectionKind::kSourceRows, Direction::kIn, 0, kEdges),
        FormatError, place_of("source rows (in)", example.byte));
    const std::vector<EdgeId> edges = {1, 3}, others = {1, 2};
    std::vector<std::int64_t> out(2);
    CHECK_THROWS_WITH(gather_source_rows(graph, edges, out), FormatError,
                      place_of("source rows (in)", example.byte) + "source row -2");
    gather_source_rows(graph, others, out);
  }
}

TEST(a_file_that_is_cut) {
  const ExampleGraph example;
  const Graph graph(example.path());
  std::filesystem::resize_file(example.path(), 4096);
  CHECK_THROWS(read_list<std::int64_t>(graph, SectionKind::kIndices, Direction::kOut, 0, kEdges),
               FileChangedError);
  CHECK_THROWS(read_list<float>(graph, SectionKind::kWeights, Direction::kIn, 0, kEdges),
               FileChangedError);
  const std::vector<EdgeId> positions = {1, 2};
  CHECK_THROWS(gather_list<float>(graph, SectionKind::kWeights, Direction::kOut, positions),
               FileChangedError);
}
