// Rows in any order become a matrix in order, the same one in memory and through the disk.
#include <algorithm>
#include <map>
#include <random>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/row_scatter.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/verify/verify.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;

// Rows of int32 whose first column is the number of the row in the source.
struct Source {
  std::vector<std::int64_t> destinations;
  std::vector<std::int32_t> cells;
  std::uint64_t columns;
};

Source random_source(std::vector<std::int64_t> destinations, std::uint64_t columns) {
  Source source{std::move(destinations), {}, columns};
  for (std::size_t i = 0; i < source.destinations.size(); ++i)
    for (std::uint64_t c = 0; c < columns; ++c)
      source.cells.push_back(static_cast<std::int32_t>(i * columns + c));
  return source;
}

std::vector<std::int64_t> shuffled(std::int64_t count, unsigned seed) {
  std::vector<std::int64_t> nodes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<std::int64_t>(i);
  std::shuffle(nodes.begin(), nodes.end(), std::mt19937(seed));
  return nodes;
}

ScatterOptions options_for(const Source& source, std::uint64_t memory) {
  ScatterOptions options;
  options.row_bytes = source.columns * 4;
  options.memory = memory;
  options.tmp = std::filesystem::temp_directory_path();
  return options;
}

std::vector<std::int32_t> scatter(const Source& source, const ScatterOptions& options,
                                  ScatterSummary* summary = nullptr, std::size_t batch = 777) {
  const TemporaryFolder folder;
  RowScatter rows(options);
  for (std::size_t at = 0; at < source.destinations.size(); at += batch) {
    const std::size_t count = std::min(batch, source.destinations.size() - at);
    rows.add(std::span(source.destinations).subspan(at, count),
             std::as_bytes(std::span(source.cells))
                 .subspan(at * options.row_bytes, count * options.row_bytes));
  }
  FeatureWriter writer(
      folder / "x.gd",
      {.dtype = DType::kInt32, .rows = rows.num_rows(), .columns = source.columns});
  std::uint64_t reported = 0;
  const ScatterSummary result = rows.write_to(writer, [&](std::uint64_t done, std::uint64_t total) {
    CHECK(done >= reported && done <= total);
    reported = done;
  });
  if (summary != nullptr) *summary = result;
  writer.finish();
  CHECK_EQUAL(reported, rows.num_rows() * options.row_bytes);
  CHECK_EQUAL(verify_file(folder / "x.gd", {}).num_problems, 0U);
  const FeatureMatrix features(folder / "x.gd");
  const auto* cells = features.mount().data<std::int32_t>(features.matrix());
  return {cells, cells + features.num_rows() * source.columns};
}

// The obviously correct twin.
std::vector<std::int32_t> expected(const Source& source, std::uint64_t num_rows, Repeated repeated,
                                   std::int32_t fill) {
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t i = 0; i < source.destinations.size(); ++i) {
    if (repeated == Repeated::kKeepLast)
      row_of[source.destinations[i]] = i;
    else
      row_of.emplace(source.destinations[i], i);
  }
  std::vector<std::int32_t> cells(num_rows * source.columns, fill);
  for (const auto& [node, row] : row_of)
    for (std::uint64_t c = 0; c < source.columns; ++c)
      cells[static_cast<std::uint64_t>(node) * source.columns + c] =
          source.cells[row * source.columns + c];
  return cells;
}

}  // namespace

TEST(sorts_in_memory_and_through_the_disk) {
  const Source source = random_source(shuffled(200'000, 1), 9);  // 7 MiB, in budgets of 1 MiB on
  const auto sorted = expected(source, 200'000, Repeated::kRefuse, 0);
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{3} << 20, kPlenty}) {
    ScatterOptions options = options_for(source, memory);
    CHECK(scatter(source, options) == sorted);
    options.num_rows = 200'000;
    CHECK(scatter(source, options, nullptr, 100'000) == sorted);
  }
}

TEST(keeps_the_first_or_the_last_of_the_source) {
  std::mt19937 random(2);
  std::vector<std::int64_t> destinations;
  for (int i = 0; i < 100'000; ++i) destinations.push_back(random() % 50'000);
  const Source source = random_source(destinations, 10);
  std::vector<bool> has_row(60'000);
  for (const std::int64_t node : destinations) has_row[static_cast<std::size_t>(node)] = true;
  const auto missing =
      static_cast<std::uint64_t>(std::count(has_row.begin(), has_row.end(), false));
  for (const Repeated repeated : {Repeated::kKeepFirst, Repeated::kKeepLast}) {
    for (const std::uint64_t memory : {std::uint64_t{0}, kPlenty}) {
      ScatterOptions options = options_for(source, memory);
      options.repeated = repeated;
      options.num_rows = 60'000;
      options.refuse_missing = false;
      options.fill = Bytes(40, std::byte{0xFF});
      ScatterSummary summary;
      CHECK(scatter(source, options, &summary) == expected(source, 60'000, repeated, -1));
      CHECK_EQUAL(summary.missing, missing);
      CHECK_EQUAL(summary.repeated, 100'000 - (60'000 - missing));
    }
  }
}

TEST(refuses_rows_that_are_missing_or_repeated) {
  for (const std::uint64_t memory : {std::uint64_t{0}, kPlenty}) {
    std::vector<std::int64_t> destinations = shuffled(100'000, 3);
    std::erase_if(destinations, [](std::int64_t node) { return node % 10'000 == 7; });
    Source source = random_source(destinations, 10);
    ScatterOptions options = options_for(source, memory);
    CHECK_THROWS_WITH(scatter(source, options), SourceError,
                      "10 of 100000 nodes have no row: 7, 10007, 20007, 30007, 40007, …; pass "
                      "missing= with a value for them");
    options.num_rows = 100'001;
    CHECK_THROWS_WITH(scatter(source, options), SourceError, "11 of 100001 nodes have no row: 7,");
    options.name_of = [](std::int64_t node) { return "<" + std::to_string(node) + ">"; };
    source.destinations[source.destinations.size() - 1] = 5;
    source.destinations[0] = 5;
    CHECK_THROWS_WITH(scatter(source, options), SourceError,
                      "rows are for nodes that have one already: <5>");
  }
}

TEST(refuses_nodes_that_do_not_exist) {
  const Source source = random_source({0, 1, 5, -2}, 1);
  for (const std::uint64_t memory : {std::uint64_t{0}, kPlenty}) {
    ScatterOptions options = options_for(source, memory);
    CHECK_THROWS_WITH(scatter(source, options), SourceError,
                      "row 3 is for node -2, but nodes are numbered from 0");
    options.num_rows = 5;
    CHECK_THROWS_WITH(scatter(source, options), SourceError,
                      "row 2 is for node 5, which does not exist: there are 5 nodes");
  }
  const Source far = random_source({0, INT64_MAX}, 1);
  CHECK_THROWS_WITH(scatter(far, options_for(far, kPlenty)), SourceError,
                    "row 1 is for node 9223372036854775807: so many rows cannot be sorted");
}

TEST(refuses_options_that_cannot_be) {
  CHECK_THROWS_WITH(RowScatter({.row_bytes = 4, .refuse_missing = false}), std::invalid_argument,
                    "the fill row has 0 bytes");
  CHECK_THROWS_WITH(RowScatter({.row_bytes = 4, .num_rows = UINT64_MAX}), BudgetError,
                    "pass a larger memory=");
  RowScatter scatter({.row_bytes = 4});
  const std::int64_t node = 0;
  CHECK_THROWS_WITH(scatter.add({&node, 1}, Bytes(5)), std::invalid_argument, "are not 1 rows");
}

TEST(takes_empty_and_odd_shapes) {
  const Source empty = random_source({}, 3);
  CHECK(scatter(empty, options_for(empty, 0)).empty());
  const Source narrow = random_source(shuffled(1000, 4), 0);
  CHECK(scatter(narrow, options_for(narrow, 0)).empty());
  const Source wide = random_source(shuffled(5, 5), 1'000'000);  // one row is more than the budget
  CHECK(scatter(wide, options_for(wide, 0), nullptr, 1) == expected(wide, 5, Repeated::kRefuse, 0));
  const Source vector = random_source(shuffled(300'000, 6), 1);
  CHECK(scatter(vector, options_for(vector, 0)) == expected(vector, 300'000, Repeated::kRefuse, 0));
}

TEST(a_folder_that_is_not_there_is_an_error_only_when_it_is_needed) {
  const Source small = random_source(shuffled(100, 7), 4);
  ScatterOptions options = options_for(small, 0);
  options.tmp = "/nowhere";
  CHECK(scatter(small, options) == expected(small, 100, Repeated::kRefuse, 0));
  const Source large = random_source(shuffled(200'000, 8), 4);
  CHECK_THROWS_WITH(scatter(large, options), IoError, "/nowhere: cannot make a temporary file");
}
