// Neighbor lists against a slow twin that cannot be wrong, however the entries are cut into pieces,
// and the same for any number of threads.
#include <limits>
#include <tuple>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/edges/edge_block.hpp"
#include "graphmount/compile/neighbor_lists.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "naive_lists.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

// What is built, and of which pieces.
struct Plan {
  NaiveOptions lists;
  EntryParts parts;
  bool wide_indices = false;
  std::size_t batch = SIZE_MAX;  // rows of a piece
};

// The blocks that hold the entries of the lists that are built.
std::vector<EdgeBlock> make_blocks(const EdgeColumns& columns, const Plan& plan) {
  std::vector<EdgeBlock> blocks;
  for (std::size_t first = 0; first < columns.src.size();) {
    const std::size_t count = std::min<std::size_t>(plan.batch, columns.src.size() - first);
    const EdgeColumns part = slice(columns, first, count);
    blocks.emplace_back(ColumnSource{part,
                                     plan.lists.direction,
                                     plan.lists.undirected,
                                     plan.lists.drop_self_loops,
                                     first,
                                     {}},
                        0, count, plan.parts);
    first += count;
  }
  return blocks;
}

ListOptions list_options(const Edges& edges, const Plan& plan) {
  NodeId largest = 0;
  for (const auto* column : {&edges.src, &edges.dst})
    for (const NodeId id : *column) largest = std::max(largest, id);
  return {plan.parts, plan.lists.dedup, plan.wide_indices, static_cast<std::uint64_t>(largest)};
}

void check_equal(const NeighborLists& lists, NaiveLists expected, const Plan& plan) {
  CHECK_EQUAL(lists.first_node, plan.lists.first_node);
  CHECK_EQUAL(lists.num_nodes(), plan.lists.end_node - plan.lists.first_node);
  CHECK_EQUAL(lists.num_entries(), expected.neighbors.size());
  const auto is_same = [](const auto& span, const auto& values) {
    return std::equal(span.begin(), span.end(), values.begin(), values.end());
  };
  CHECK(is_same(lists.offsets, expected.offsets));
  CHECK((plan.wide_indices ? lists.narrow_indices.empty() : lists.wide_indices.empty()));
  CHECK(plan.wide_indices ? is_same(lists.wide_indices, expected.neighbors)
                          : is_same(lists.narrow_indices, expected.neighbors));
  if (!plan.parts.rows) expected.rows.clear();
  if (!plan.parts.weights) expected.weights.clear();
  if (!plan.parts.times) expected.times.clear();
  CHECK(is_same(lists.rows, expected.rows));
  CHECK(is_same(lists.weights, expected.weights));
  CHECK(is_same(lists.times, expected.times));
}

// The lists of all nodes at once. Pieces are whole blocks, which other owners must not be in.
void check_whole(const Edges& edges, const Plan& plan, const std::vector<int>& threads = {1, 3}) {
  const EdgeColumns columns = edges.columns(plan.parts.weights, plan.parts.times);
  const std::vector<EdgeBlock> blocks = make_blocks(columns, plan);
  std::vector<EdgePiece> pieces;
  for (const EdgeBlock& block : blocks) pieces.push_back(block.piece());
  const NaiveLists expected = naive_lists(edges, plan.lists);
  for (const int count : threads) {
    set_num_threads(count);
    const auto builder = make_list_builder(list_options(edges, plan));
    check_equal(builder->build(plan.lists.first_node, plan.lists.end_node, pieces), expected, plan);
  }
}

std::vector<Plan> all_plans(std::uint64_t num_nodes) {
  std::vector<Plan> plans;
  for (int bits = 0; bits < 64; ++bits) {
    const auto bit = [&](int place) { return (bits >> place & 1) != 0; };
    for (const Dedup dedup : {Dedup::kKeepAll, Dedup::kKeepFirst, Dedup::kSumWeights}) {
      if (dedup == Dedup::kSumWeights && !bit(0)) continue;
      plans.push_back({.lists = {.end_node = num_nodes,
                                 .direction = bit(2) ? Direction::kIn : Direction::kOut,
                                 .with_times = bit(1),
                                 .undirected = bit(3),
                                 .drop_self_loops = bit(4),
                                 .dedup = dedup},
                       .parts = {bit(5), bit(0), bit(1)},
                       .wide_indices = bit(2),
                       .batch = 10});
    }
  }
  return plans;
}

void check_all_plans(const Edges& edges, std::uint64_t num_nodes) {
  for (const Plan& plan : all_plans(num_nodes)) check_whole(edges, plan);
}

}  // namespace

TEST(small_random_graphs) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto num_nodes = static_cast<std::int64_t>(1 + seed % 9);
    check_all_plans(random_edges(seed, num_nodes, static_cast<int>(seed * 5 % 83)),
                    static_cast<std::uint64_t>(num_nodes) + seed % 3);
  }
}

TEST(many_buckets_and_pieces) {
  Edges edges = random_edges(7, 5000, 100'000);
  for (int i = 0; i < 20'000; ++i) edges.add(i % 50, 17, 0.5F, i % 3);  // a long list
  for (const Direction direction : {Direction::kIn, Direction::kOut})
    for (const std::size_t batch : {3000, 100'000})
      for (const Dedup dedup : {Dedup::kKeepAll, Dedup::kSumWeights})
        check_whole(edges, {.lists = {.end_node = 5000,
                                      .direction = direction,
                                      .with_times = true,
                                      .undirected = batch == 3000,
                                      .dedup = dedup},
                            .parts = {true, true, true},
                            .batch = batch});
}

TEST(more_entries_than_a_thread_moves_at_a_time) {
  const Edges edges = random_edges(8, 3000, 700'000);
  check_whole(edges, {.lists = {.end_node = 3000}, .parts = {.rows = true}}, {3});
}

TEST(more_nodes_than_entries) {
  const Edges edges = random_edges(9, 1'000'000, 3000);
  check_whole(edges, {.lists = {.end_node = 1'000'000}, .parts = {.rows = true}});
}

// One builder, range after range, as the buckets of a spool come.
TEST(ranges_of_nodes) {
  const Edges edges = random_edges(10, 800, 8000);
  for (Plan plan : all_plans(800)) {
    if (plan.lists.drop_self_loops) continue;
    plan.batch = 1700;
    set_num_threads(3);
    std::vector<EdgeBlock> blocks =
        make_blocks(edges.columns(plan.parts.weights, plan.parts.times), plan);
    for (EdgeBlock& block : blocks) block.partition({0, 2, 200});
    const NaiveLists all = naive_lists(edges, plan.lists);
    const auto builder = make_list_builder(list_options(edges, plan));
    for (std::size_t cell = 0, width = 1; cell < 200; cell += width, width = width * 5 % 83) {
      const std::size_t end = std::min<std::size_t>(cell + width, 200);
      std::vector<EdgePiece> pieces;
      for (const EdgeBlock& block : blocks) pieces.push_back(block.piece(cell, end));
      plan.lists.first_node = 4 * cell;
      plan.lists.end_node = 4 * end;
      NaiveLists expected;  // a stretch of all
      const auto stretch = [&](const auto& from, auto& to, std::int64_t first, std::int64_t last) {
        to.assign(from.begin() + first, from.begin() + last);
      };
      const std::int64_t first = all.offsets[4 * cell], last = all.offsets[4 * end];
      stretch(all.offsets, expected.offsets, static_cast<std::int64_t>(4 * cell),
              static_cast<std::int64_t>(4 * end + 1));
      for (std::int64_t& offset : expected.offsets) offset -= first;
      stretch(all.neighbors, expected.neighbors, first, last);
      stretch(all.rows, expected.rows, first, last);
      stretch(all.weights, expected.weights, first, last);
      stretch(all.times, expected.times, first, last);
      check_equal(builder->build(4 * cell, 4 * end, pieces), expected, plan);
    }
  }
}

TEST(ids_beyond_32_bits) {
  constexpr NodeId kBase = NodeId{1} << 46;
  Edges edges = random_edges(11, 200, 3000);
  for (std::size_t i = 0; i < edges.src.size(); ++i) {
    edges.src[i] += kBase;
    edges.dst[i] += kBase;
  }
  for (const bool undirected : {false, true})
    check_whole(edges, {.lists = {.first_node = kBase,
                                  .end_node = kBase + 200,
                                  .with_times = true,
                                  .undirected = undirected},
                        .parts = {true, true, true},
                        .wide_indices = true,
                        .batch = 500});
}

TEST(narrow_and_wide_pieces_together) {
  Edges edges = random_edges(12, 200, 3000);
  for (std::size_t i = 0; i < edges.src.size(); ++i)
    if (i / 500 % 2 == 0 && i % 7 == 0) edges.src[i] += NodeId{1} << 40;
  for (const bool with_all : {false, true})
    check_whole(edges, {.lists = {.end_node = 200, .with_times = with_all},
                        .parts = {with_all, with_all, with_all},
                        .wide_indices = true,
                        .batch = 500});
}

// More entries in a bucket than are sorted digit by digit with a copy. The weights of equal entries
// differ and do not add up exactly: all depends on their order.
TEST(hubs) {
  Edges edges;
  for (int i = 0; i < 1'150'000; ++i)
    edges.add(i * 7919LL % 40'000, i % 50 == 0 ? i % 90 : 5, 1.0F / static_cast<float>(1 + i % 97),
              i % 3);
  for (const EntryParts parts : {EntryParts{}, {.rows = true}, {.weights = true}, {.times = true}})
    check_whole(edges, {.lists = {.end_node = 90, .with_times = parts.times}, .parts = parts}, {2});
  const auto check_dedup = [&](Dedup dedup, EntryParts parts) {
    check_whole(edges,
                {.lists = {.end_node = 90, .with_times = parts.times, .dedup = dedup},
                 .parts = parts,
                 .batch = 300'000},
                {2});
  };
  check_dedup(Dedup::kKeepFirst, {.rows = true});
  check_dedup(Dedup::kSumWeights, {.weights = true});
  check_dedup(Dedup::kSumWeights, {true, true, true});
}

TEST(without_edges_or_nodes) {
  check_all_plans({}, 0);
  check_all_plans({}, 3);
}

TEST(only_loops) {
  Edges edges;
  for (int i = 0; i < 5; ++i) edges.add(1, 1);
  check_all_plans(edges, 2);
}

TEST(sums_that_overflow_are_an_error) {
  Edges edges;
  edges.add(3, 4);
  edges.add(0, 1, std::numeric_limits<float>::max());
  edges.add(1, 0);
  edges.add(0, 1, std::numeric_limits<float>::max());
  const EdgeColumns columns = edges.columns(true);
  const EdgeBlock block(ColumnSource{columns, Direction::kIn, false, false, 0, {}}, 0, 4,
                        {.weights = true});
  const std::vector<EdgePiece> pieces = {block.piece()};
  const auto build = [&](Dedup dedup) {
    const auto builder = make_list_builder({{.weights = true}, dedup, false, 4});
    return builder->build(0, 5, pieces).num_entries();
  };
  CHECK_EQUAL(build(Dedup::kKeepAll), 4U);
  CHECK_EQUAL(build(Dedup::kKeepFirst), 3U);
  CHECK_THROWS_WITH(build(Dedup::kSumWeights), SourceError,
                    "between nodes 0 and 1 add up to more than float32");
}

TEST(says_how_much_memory_it_takes) {
  CHECK_EQUAL(list_bytes_per_entry({}), 12U);
  CHECK_EQUAL(list_bytes_per_entry({.parts = {.rows = true}, .wide_indices = true}), 32U);
  CHECK(list_bytes_per_entry({.parts = {true, true, true}}) >
        list_bytes_per_entry({.parts = {.weights = true}}));
}
