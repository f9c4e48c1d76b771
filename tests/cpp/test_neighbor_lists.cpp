// Neighbor lists against a slow twin that cannot be wrong, and the same for any number of threads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "check.hpp"
#include "graphmount/error.hpp"
#include "graphmount/neighbor_lists.hpp"
#include "graphmount/parallel.hpp"
#include "random_edges.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

struct Case {
  bool with_weights, with_times;
  Direction direction;
  ListOptions options;
};

// Every list is a map from (time, neighbor) to what the rows bring, in the order of the rows.
NeighborLists naive_lists(const Edges& edges, const Case& c) {
  using Key = std::pair<std::int64_t, NodeId>;
  std::map<NodeId, std::map<Key, std::vector<std::size_t>>> lists;
  for (std::size_t row = 0; row < edges.src.size(); ++row) {
    NodeId owner = edges.src[row], other = edges.dst[row];
    if (c.direction == Direction::kIn) std::swap(owner, other);
    if (owner == other && c.options.drop_self_loops) continue;
    const std::int64_t time = c.with_times ? edges.times[row] : 0;
    lists[owner][{time, other}].push_back(row);
    if (c.options.undirected && owner != other) lists[other][{time, owner}].push_back(row);
  }
  NeighborLists result;
  result.indptr.push_back(0);
  for (std::uint64_t node = 0; node < c.options.num_nodes; ++node) {
    for (auto& [key, rows] : lists[static_cast<NodeId>(node)]) {
      float sum = 0.0F;
      for (const std::size_t row : rows) sum += edges.weights[row];
      const bool is_sum = c.options.dedup == Dedup::kSumWeights;
      if (c.options.dedup != Dedup::kKeepAll) rows.resize(1);
      for (const std::size_t row : rows) {
        result.neighbors.push_back(key.second);
        result.rows.push_back(static_cast<std::int64_t>(row));
        if (c.with_weights) result.weights.push_back(is_sum ? sum : edges.weights[row]);
        if (c.with_times) result.times.push_back(key.first);
      }
    }
    result.indptr.push_back(static_cast<std::int64_t>(result.rows.size()));
  }
  return result;
}

bool are_equal(const NeighborLists& a, const NeighborLists& b) {
  return std::tie(a.indptr, a.neighbors, a.rows, a.weights, a.times) ==
         std::tie(b.indptr, b.neighbors, b.rows, b.weights, b.times);
}

std::vector<Case> all_cases(std::uint64_t num_nodes) {
  std::vector<Case> cases;
  for (int bits = 0; bits < 32; ++bits) {
    for (const Dedup dedup : {Dedup::kKeepAll, Dedup::kKeepFirst, Dedup::kSumWeights}) {
      const bool with_weights = (bits & 1) != 0;
      if (dedup == Dedup::kSumWeights && !with_weights) continue;
      cases.push_back({with_weights,
                       (bits & 2) != 0,
                       (bits & 4) != 0 ? Direction::kIn : Direction::kOut,
                       {num_nodes, (bits & 8) != 0, dedup, (bits & 16) != 0}});
    }
  }
  return cases;
}

void check_all_cases(const Edges& edges, std::uint64_t num_nodes) {
  for (const Case& c : all_cases(num_nodes)) {
    const EdgeColumns columns = edges.columns(c.with_weights, c.with_times);
    check_edges(columns, num_nodes);
    const NeighborLists expected = naive_lists(edges, c);
    for (const int threads : {1, 2, 7}) {
      set_num_threads(threads);
      CHECK(are_equal(build_lists(columns, c.direction, c.options), expected));
    }
  }
}

void check_source(const Edges& edges, std::uint64_t num_nodes, const std::string& problem) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    CHECK_THROWS_WITH(check_edges(edges.columns(true, true), num_nodes), SourceError, problem);
  }
}

}  // namespace

TEST(small_random_graphs) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto num_nodes = static_cast<std::int64_t>(1 + seed % 9);
    check_all_cases(random_edges(seed, num_nodes, static_cast<int>(seed * 5 % 83)),
                    static_cast<std::uint64_t>(num_nodes) + seed % 3);
  }
}

TEST(larger_than_one_grain) {
  Edges edges = random_edges(7, 5000, 150'000);
  for (int i = 0; i < 20'000; ++i) edges.add(i % 50, 17, 0.5F, i % 3);  // a long list
  const ListOptions options{5000, true, Dedup::kSumWeights, false};
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    const NeighborLists expected = naive_lists(edges, {true, true, direction, options});
    for (const int threads : {1, 2, 7}) {
      set_num_threads(threads);
      CHECK(are_equal(build_lists(edges.columns(true, true), direction, options), expected));
    }
  }
}

TEST(without_edges_or_nodes) {
  check_all_cases({}, 0);
  check_all_cases({}, 3);
}

TEST(only_loops) {
  Edges edges;
  for (int i = 0; i < 5; ++i) edges.add(1, 1);
  check_all_cases(edges, 2);
}

TEST(names_the_first_bad_row) {
  Edges edges = random_edges(3, 100, 200'000);
  check_edges(edges.columns(true, true), 100);
  edges.dst[150'000] = -1;
  check_source(edges, 100, "edge 150000: node id -1 is negative");
  edges.src[140'000] = 100;
  check_source(edges, 100, "edge 140000: node id 100 is not below num_nodes=100");
  edges.weights[130'000] = -0.5F;
  check_source(edges, 100, "edge 130000: weight -0.5");
  edges.weights[120'000] = std::numeric_limits<float>::quiet_NaN();
  check_source(edges, 100, "edge 120000: weight");
  edges.weights[110'000] = std::numeric_limits<float>::infinity();
  check_source(edges, 100, "edge 110000: weight inf");
  edges.src[0] = INT64_MIN;
  check_source(edges, 100, "edge 0: node id -9223372036854775808 is negative");
  check_source(random_edges(3, 100, 10), 0, "is not below num_nodes=0");
}

TEST(sums_that_overflow_are_an_error) {
  Edges edges;
  edges.add(0, 1, std::numeric_limits<float>::max());
  edges.add(1, 0);
  edges.add(0, 1, std::numeric_limits<float>::max());
  const ListOptions options{2, false, Dedup::kSumWeights, false};
  CHECK_THROWS_WITH(build_lists(edges.columns(true), Direction::kIn, options), SourceError,
                    "repeat edge 0 add up to more than float32");
}
