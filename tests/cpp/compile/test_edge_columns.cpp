// Edges of a source are checked, and the first bad row is named for any number of threads.
#include <limits>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/edges/edge_columns.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "random_edges.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

void check_source(const Edges& edges, std::uint64_t num_nodes, const std::string& problem) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    CHECK_THROWS_WITH(check_edges(edges.columns(true, true), {num_nodes, num_nodes}, 0),
                      SourceError, problem);
  }
}

}  // namespace

TEST(names_the_first_bad_row) {
  Edges edges = random_edges(3, 100, 200'000);
  check_edges(edges.columns(true, true), {100, 100}, 0);
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
  check_edges({}, {0, 0}, 0);
}

TEST(counts_rows_over_batches) {
  Edges edges = random_edges(3, 100, 10);
  edges.src[4] = 100;
  CHECK_THROWS_WITH(check_edges(edges.columns(), {100, 100}, 5'000'000'000), SourceError,
                    "edge 5000000004: node id 100");
}
