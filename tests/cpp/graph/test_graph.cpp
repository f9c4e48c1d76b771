// Mounted graphs: what opening refuses although the header is well-formed, and that every call
// checks what it follows. Round trips are in test_graph_compiler.cpp.
#include <functional>
#include <numeric>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/degree_summary.hpp"
#include "graphmount/graph/graph.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kNodes = 10;

// A graph that has every list section there is; its header can be rewritten field by field.
class ExampleGraph {
 public:
  explicit ExampleGraph(const GraphOptions& options = {.num_nodes = kNodes,
                                                       .keep_source_rows = true}) {
    const Edges edges = random_edges(2, kNodes, 50);
    const Names names(some_names(kNodes));
    write_graph(path(), edges.columns(true, true), {{}, names}, options, {});
    good_ = read_bytes(path());
  }

  std::filesystem::path path() const { return folder_ / "graph.gl"; }
  const Bytes& good() const { return good_; }
  Header header() const { return Graph(path()).mount().header(); }

  /// Writes the file with another header (the sections stay where they are) and opens it.
  Graph open_with(const std::function<void(Header&)>& change) const {
    Header header = original();
    change(header);
    Bytes bytes = good_;
    const Bytes encoded = encode_header(header);
    std::copy(encoded.begin(), encoded.end(), bytes.begin());
    write_bytes(path(), bytes);
    return Graph(path());
  }

  Graph open_damaged(SectionKind kind, Direction direction, std::uint64_t at, auto value) const {
    Bytes bytes = good_;
    put(bytes, original().find(kind, direction)->offset + at, value);
    write_bytes(path(), bytes);
    return Graph(path());
  }

 private:
  Header original() const {
    write_bytes(path(), good_);
    return header();
  }
  TemporaryFolder folder_;
  Bytes good_;
};

Section& section_of(Header& header, SectionKind kind, Direction direction = Direction::kNone) {
  return const_cast<Section&>(*header.find(kind, direction));
}

// As a section that nobody looks at; its place and its checksums stay as they are.
void hide(Section& section) {
  section.kind = static_cast<SectionKind>(kFirstOptionalKind + static_cast<int>(section.kind));
}

}  // namespace

TEST(refuses_graphs_with_parts_missing) {
  const ExampleGraph example;
  const auto refuse = [&](SectionKind kind, Direction direction, const std::string& why) {
    const auto change = [&](Header& header) { hide(section_of(header, kind, direction)); };
    CHECK_THROWS_WITH(example.open_with(change), FormatError, why);
  };
  refuse(SectionKind::kIndptr, Direction::kIn, "does not belong into this graph");
  refuse(SectionKind::kIndices, Direction::kOut, "indices (out) is missing");
  refuse(SectionKind::kWeights, Direction::kIn, "does not go with the weights");
  refuse(SectionKind::kAlias, Direction::kIn, "does not go with the weights");
  refuse(SectionKind::kTimestamps, Direction::kIn, "marked as sorted by time");
  refuse(SectionKind::kEdgeIds, Direction::kOut, "edge ids (out) is missing");
  refuse(SectionKind::kNodeNameBytes, Direction::kNone, "are not complete");
  refuse(SectionKind::kNodeNameOffsets, Direction::kNone, "are not complete");
  refuse(SectionKind::kNodeIdTable, Direction::kNone, "are not complete");
  const auto hide_all = [](Header& header) {
    for (Section& section : header.sections)
      if (section.kind != SectionKind::kChecksums) hide(section);
  };
  CHECK_THROWS_WITH(example.open_with(hide_all), FormatError, "there are no neighbor lists");
  // What is optional may be hidden.
  const auto hide_rows = [](Header& header) {
    hide(section_of(header, SectionKind::kSourceRows, Direction::kIn));
  };
  CHECK_EQUAL(example.open_with(hide_rows).num_nodes(), kNodes);
}

TEST(refuses_graphs_whose_counts_disagree) {
  const ExampleGraph example;
  const auto refuse = [&](const std::function<void(Header&)>& change, const std::string& why) {
    CHECK_THROWS_WITH(example.open_with(change), FormatError, why);
  };
  refuse([](Header& h) { ++h.num_rows; }, "indptr (in) has 11 entries for 11 nodes");
  refuse([](Header& h) { h.num_rows = INT64_MAX; }, "number of nodes exceeds");
  refuse([](Header& h) { h.num_rows = 0; }, "indptr (in) has 11 entries for 0 nodes");
  refuse([](Header& h) { --h.num_columns; }, "indices (in) has 50 entries for 49 edges");
  refuse([](Header& h) { h.flags |= kFlagOneDimensional; }, "marked as a vector");
  refuse([](Header& h) { h.flags |= kFlagUndirected; }, "lists of its own");
}

TEST(refuses_sections_of_the_wrong_dtype_or_direction) {
  const ExampleGraph example;
  const auto refuse = [&](SectionKind kind, Direction direction, DType dtype,
                          const std::string& why) {
    const auto change = [&](Header& header) { section_of(header, kind, direction).dtype = dtype; };
    CHECK_THROWS_WITH(example.open_with(change), FormatError, why);
  };
  refuse(SectionKind::kIndptr, Direction::kIn, DType::kFloat64, "is not int64");
  refuse(SectionKind::kIndices, Direction::kIn, DType::kFloat32, "neither int32 nor int64");
  refuse(SectionKind::kWeights, Direction::kOut, DType::kInt32, "is not float32");
  refuse(SectionKind::kAlias, Direction::kOut, DType::kFloat64, "is not int64");
  refuse(SectionKind::kTimestamps, Direction::kOut, DType::kFloat64, "is not int64");
  refuse(SectionKind::kEdgeIds, Direction::kOut, DType::kFloat32, "neither int32 nor int64");
  refuse(SectionKind::kSourceRows, Direction::kIn, DType::kFloat32, "neither int32 nor int64");
  refuse(SectionKind::kNodeNameOffsets, Direction::kNone, DType::kFloat64, "wrong size or dtype");
  refuse(SectionKind::kNodeNameBytes, Direction::kNone, DType::kInt8, "wrong size or dtype");
  refuse(SectionKind::kNodeIdTable, Direction::kNone, DType::kFloat32, "wrong size or dtype");

  const auto turn = [](Header& header) {
    section_of(header, SectionKind::kWeights, Direction::kIn).direction = Direction::kNone;
  };
  CHECK_THROWS_WITH(example.open_with(turn), FormatError, "does not belong into this graph");
  const auto widen = [](Header& header) {
    Section& indices = section_of(header, SectionKind::kIndices, Direction::kIn);
    indices.rows = 25;
    indices.columns = 2;
  };
  CHECK_THROWS_WITH(example.open_with(widen), FormatError, "has 2 columns instead of 1");
}

TEST(calls_meet_damaged_offsets) {
  const ExampleGraph example;
  for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{51}, INT64_MAX, INT64_MIN}) {
    const Graph graph = example.open_damaged(SectionKind::kIndptr, Direction::kIn, 8 * 5, value);
    std::vector<std::int64_t> out(kNodes), one(1);
    for (const NodeId node : {4, 5}) {
      const std::vector<NodeId> nodes = {node};
      CHECK_THROWS_WITH(graph.degrees(nodes, Direction::kIn, one), FormatError, "damaged");
      CHECK_THROWS(graph.neighbor_range(node, Direction::kIn), FormatError);
      CHECK_THROWS(graph.prefetch(nodes, Direction::kIn), FormatError);
    }
    CHECK_THROWS(graph.all_degrees(Direction::kIn, out), FormatError);
    CHECK_THROWS(summarize_degrees(graph, Direction::kIn), FormatError);
    graph.all_degrees(Direction::kOut, out);  // the other direction is fine
    graph.neighbor_range(0, Direction::kIn);
  }
}

TEST(calls_meet_damaged_neighbors) {
  for (const bool wide : {false, true}) {
    const ExampleGraph example({.num_nodes = kNodes, .wide_indices = wide});
    for (const int value : {-1, 10, INT32_MAX, INT32_MIN}) {
      const Graph graph =
          wide
              ? example.open_damaged(SectionKind::kIndices, Direction::kOut, 8, std::int64_t{value})
              : example.open_damaged(SectionKind::kIndices, Direction::kOut, 4, value);
      std::size_t failures = 0;
      for (NodeId node = 0; node < static_cast<NodeId>(kNodes); ++node) {
        try {
          graph.neighbor_range(node, Direction::kOut);
        } catch (const FormatError& error) {
          CHECK(std::string(error.what()).find("has the neighbor " + std::to_string(value)) !=
                std::string::npos);
          ++failures;
        }
      }
      CHECK_EQUAL(failures, 1U);
    }
  }
}

TEST(refuses_ids_that_do_not_exist) {
  const ExampleGraph example;
  const Graph graph(example.path());
  std::vector<std::int64_t> out(1);
  for (const NodeId node : {NodeId{-1}, NodeId{10}, NodeId{INT64_MAX}, NodeId{INT64_MIN}}) {
    const std::vector<NodeId> nodes = {node};
    CHECK_THROWS(graph.degrees(nodes, Direction::kIn, out), IdError);
    CHECK_THROWS(graph.neighbor_range(node, Direction::kOut), IdError);
    CHECK_THROWS(graph.prefetch(nodes, Direction::kIn), IdError);
  }
}

TEST(missing_directions_are_named) {
  const ExampleGraph example({.num_nodes = kNodes, .out_lists = false});
  const Graph graph(example.path());
  std::vector<std::int64_t> out(kNodes);
  CHECK_THROWS_WITH(graph.all_degrees(Direction::kOut, out), MissingDataError,
                    "compile the graph with neighbors='both' or neighbors='out'");
  CHECK_THROWS(graph.neighbor_range(0, Direction::kOut), MissingDataError);
  CHECK_THROWS(graph.stored_direction(Direction::kNone), MissingDataError);
  CHECK_THROWS(graph.find(SectionKind::kIndptr, Direction::kOut), MissingDataError);
}

TEST(prefetch_counts_the_pages_of_the_lists) {
  const ExampleGraph example;
  const Graph graph(example.path());
  std::vector<NodeId> nodes(kNodes);
  std::iota(nodes.begin(), nodes.end(), 0);
  CHECK_EQUAL(graph.prefetch({}, Direction::kIn), 0U);
  // Offsets, indices, weights, alias table, timestamps, source rows: a page of each.
  CHECK_EQUAL(graph.prefetch(nodes, Direction::kIn), 6U * 4096);
}

TEST(truncation_while_mounted_is_an_error) {
  const ExampleGraph example;
  const Graph graph(example.path());
  std::filesystem::resize_file(example.path(), 4096);
  std::vector<std::int64_t> out(kNodes);
  const std::vector<NodeId> nodes = {3};
  CHECK_THROWS(graph.all_degrees(Direction::kIn, out), FileChangedError);
  CHECK_THROWS(graph.degrees(nodes, Direction::kOut, out), FileChangedError);
  CHECK_THROWS(graph.neighbor_range(3, Direction::kIn), FileChangedError);
  CHECK_THROWS(graph.prefetch(nodes, Direction::kIn), FileChangedError);
  CHECK_THROWS(summarize_degrees(graph, Direction::kIn), FileChangedError);
}
