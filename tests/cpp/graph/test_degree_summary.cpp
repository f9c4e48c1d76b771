// The degree summary against one made of the sorted degrees.
#include <algorithm>
#include <bit>

#include "check.hpp"
#include "graphmount/graph/degree_summary.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

DegreeSummary naive_summary(std::vector<std::int64_t> degrees) {
  DegreeSummary summary;
  if (degrees.empty()) return summary;
  std::sort(degrees.begin(), degrees.end());
  const auto at = [&](std::size_t percent) {
    const std::int64_t degree = degrees[(degrees.size() * percent + 99) / 100 - 1];
    return degree < 1 << 16
               ? degree
               : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(degree)));
  };
  summary.smallest = degrees.front();
  summary.largest = degrees.back();
  summary.median = at(50);
  summary.ninety_percent = at(90);
  summary.ninety_nine_percent = at(99);
  for (const std::int64_t degree : degrees) {
    summary.mean += static_cast<double>(degree);
    ++summary
          .histogram[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(degree)))];
  }
  summary.mean /= static_cast<double>(degrees.size());
  return summary;
}

void check_summary(const Edges& edges, std::uint64_t num_nodes) {
  const TemporaryFolder folder;
  write_graph(folder / "g.gl", edges.columns(), {}, {.num_nodes = num_nodes}, {});
  const Graph graph(folder / "g.gl");
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    std::vector<std::int64_t> degrees(num_nodes, 0);
    for (const NodeId owner : direction == Direction::kIn ? edges.dst : edges.src)
      ++degrees[static_cast<std::size_t>(owner)];
    std::vector<std::int64_t> read(num_nodes);
    graph.all_degrees(direction, read);
    CHECK(read == degrees);
    const DegreeSummary expected = naive_summary(degrees);
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      const DegreeSummary summary = summarize_degrees(graph, direction);
      CHECK_EQUAL(summary.smallest, expected.smallest);
      CHECK_EQUAL(summary.median, expected.median);
      CHECK_EQUAL(summary.ninety_percent, expected.ninety_percent);
      CHECK_EQUAL(summary.ninety_nine_percent, expected.ninety_nine_percent);
      CHECK_EQUAL(summary.largest, expected.largest);
      CHECK_EQUAL(summary.mean, expected.mean);
      CHECK(summary.histogram == expected.histogram);
    }
  }
}

}  // namespace

TEST(without_nodes_or_edges) {
  check_summary({}, 0);
  check_summary({}, 1);
  check_summary({}, 150'000);
}

TEST(random_graphs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    check_summary(
        random_edges(seed, static_cast<std::int64_t>(1 + seed * 7), static_cast<int>(seed * 50)),
        1 + seed * 9);
}

TEST(more_nodes_than_one_range) {
  check_summary(random_edges(1, 300'000, 200'000), 300'000);
}

TEST(degrees_beyond_the_exact_ones) {
  Edges edges;
  for (int i = 0; i < 70'000; ++i) edges.add(i % 3, 0);
  for (int i = 0; i < 140'000; ++i) edges.add(2, 1);
  check_summary(edges, 3);
}
