// Rows of batches, in memory that holds something else before: every byte of a batch is written,
// and right, whatever part of the cache it comes from. Batches of loaders are compared in Python.
#include <cstring>
#include <numeric>
#include <random>

#include "check.hpp"
#include "graphmount/loading/table_feed.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kRows = 2000;
constexpr std::uint64_t kColumns = 256;
constexpr std::size_t kBatches = 6;
constexpr std::byte kPoison{0xA5};

/// All rows of the table, as values of some type.
template <class Value>
std::vector<Value> make_rows() {
  std::vector<Value> rows(kRows * kColumns);
  std::iota(rows.begin(), rows.end(), Value{0});
  return rows;
}

std::filesystem::path write_rows(const TemporaryFolder& folder) {
  const auto path = folder / "x.gd";
  FeatureWriter writer(path, {.rows = kRows, .columns = kColumns});
  const auto rows = make_rows<float>();
  writer.append(std::as_bytes(std::span(rows)));
  writer.finish();
  return path;
}

/// Batches with rows that are repeated, within one and from one to the next; the last is empty.
std::vector<std::vector<std::int64_t>> make_batches(std::size_t size) {
  std::mt19937_64 random(size);
  std::vector<std::vector<std::int64_t>> batches(kBatches);
  for (std::size_t i = 0; i + 1 < kBatches; ++i)
    for (std::size_t j = 0; j < size; ++j)
      batches[i].push_back(static_cast<std::int64_t>(random() % (j % 2 == 0 ? kRows : kRows / 10)));
  return batches;
}

/// Fills batch after batch as the pipeline does, and compares.
void check_feed(TableFeed& feed, const std::vector<std::vector<std::int64_t>>& batches,
                std::span<const std::byte> rows) {
  std::vector<ColdRows> cold;
  for (const auto& ids : batches) cold.emplace_back(ids, feed.hot());
  feed.set_room(std::size_t{1} << 20, true);
  std::size_t announced = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    while (announced < batches.size() && feed.announce(cold[announced])) ++announced;
    CHECK(announced > i);
    std::vector<std::byte> out(batches[i].size() * feed.out_row_bytes(), kPoison);
    feed.arrive();
    feed.start(batches[i], cold[i], {.rows = out.data()});
    feed.copy();
    feed.finish();
    for (std::size_t place = 0; place < batches[i].size(); ++place) {
      const auto row = static_cast<std::size_t>(batches[i][place]);
      const std::size_t bytes = feed.out_row_bytes();
      if (std::memcmp(out.data() + place * bytes, rows.data() + row * bytes, bytes) != 0)
        FAIL("batch " + std::to_string(i) + ", place " + std::to_string(place) + " is wrong");
    }
  }
}

/// Edges between the places of a batch, by target; some targets have none.
struct Edges {
  std::vector<std::int64_t> starts{0}, sources;

  Edges(std::size_t num_targets, std::size_t num_nodes) {
    std::mt19937_64 random(num_nodes);
    for (std::size_t i = 0; i < num_targets; ++i) {
      for (std::size_t count = random() % 7; count > 0; --count)
        sources.push_back(static_cast<std::int64_t>(random() % num_nodes));
      starts.push_back(static_cast<std::int64_t>(sources.size()));
    }
  }
};

/// The same for a feed that aggregates.
void check_sums(TableFeed& feed, const std::vector<std::vector<std::int64_t>>& batches,
                std::span<const float> rows, bool is_mean) {
  std::vector<ColdRows> cold;
  for (const auto& ids : batches) cold.emplace_back(ids, feed.hot());
  feed.set_room(std::size_t{1} << 20, true);
  std::size_t announced = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    while (announced < batches.size() && feed.announce(cold[announced])) ++announced;
    const auto& ids = batches[i];
    const Edges edges(ids.size() / 2, ids.size());
    const std::size_t num_targets = ids.size() / 2;
    std::vector<std::byte> own(num_targets * feed.out_row_bytes(), kPoison), sums = own;
    feed.arrive();
    feed.start(ids, cold[i],
               {.rows = own.data(),
                .aggregated = sums.data(),
                .edges = {.starts = edges.starts, .sources = edges.sources}});
    feed.copy();
    feed.finish();
    const auto row_of = [&](std::size_t place) {
      return rows.subspan(static_cast<std::size_t>(ids[place]) * kColumns, kColumns);
    };
    for (std::size_t target = 0; target < num_targets; ++target) {
      std::vector<float> expected(kColumns);
      const auto begin = static_cast<std::size_t>(edges.starts[target]);
      const auto end = static_cast<std::size_t>(edges.starts[target + 1]);
      for (std::size_t edge = begin; edge < end; ++edge)
        for (std::size_t column = 0; column < kColumns; ++column)
          expected[column] += row_of(static_cast<std::size_t>(edges.sources[edge]))[column];
      if (is_mean && begin != end)
        for (float& value : expected) value *= 1.0F / static_cast<float>(end - begin);
      const std::size_t bytes = feed.out_row_bytes();
      if (std::memcmp(sums.data() + target * bytes, expected.data(), bytes) != 0 ||
          std::memcmp(own.data() + target * bytes, row_of(target).data(), bytes) != 0)
        FAIL("batch " + std::to_string(i) + ", target " + std::to_string(target) + " is wrong");
    }
  }
}

}  // namespace

TEST(every_byte_of_a_batch_is_written) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder));
  const auto floats = make_rows<float>();
  const auto doubles = make_rows<double>();
  bool was_swept = false, had_slots = false, had_all = false;
  std::vector<std::int64_t> hottest(kRows / 2);
  for (std::size_t i = 0; i < hottest.size(); ++i)
    hottest[i] = static_cast<std::int64_t>(kRows - 1 - 2 * i);
  for (const std::size_t size : {4, 40, 1200}) {
    const auto batches = make_batches(size);
    for (const std::uint64_t memory : {0, 1'000'000, 1'900'000, 2'300'000, 30'000'000})
      for (const bool has_hottest : {false, true})
        for (const ReaderKind reader : {ReaderKind::kMapped, ReaderKind::kPread, ReaderKind::kAuto})
          for (const bool converts : {false, true}) {
            FeedOptions options;
            options.memory = memory;
            options.slot_share = 0.5;
            options.window = kBatches;
            options.trial = batches[0];
            if (has_hottest) options.hottest = hottest;
            if (converts) options.dtype = DType::kFloat64;
            options.reader = reader;
            TableFeed feed(matrix, options);
            was_swept |= feed.is_swept();
            had_slots |= feed.num_slots() > 0;
            had_all |= feed.hot().size() == kRows;
            check_feed(
                feed, batches,
                converts ? std::as_bytes(std::span(doubles)) : std::as_bytes(std::span(floats)));
          }
  }
  CHECK(was_swept);
  CHECK(had_slots);
  CHECK(had_all);
}

TEST(sums_of_neighbors_are_right_wherever_rows_lie) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder));
  const auto floats = make_rows<float>();
  bool was_swept = false, had_slots = false, had_all = false;
  std::vector<std::int64_t> hottest(kRows / 2);
  for (std::size_t i = 0; i < hottest.size(); ++i)
    hottest[i] = static_cast<std::int64_t>(kRows - 1 - 2 * i);
  for (const std::size_t size : {4, 40, 1200}) {
    const auto batches = make_batches(size);
    for (const std::uint64_t memory : {0, 1'000'000, 1'900'000, 2'300'000, 30'000'000})
      for (const bool has_hottest : {false, true})
        for (const bool is_mean : {false, true}) {
          FeedOptions options;
          options.memory = memory;
          options.slot_share = 0.5;
          options.window = kBatches;
          options.trial = batches[0];
          if (has_hottest) options.hottest = hottest;
          options.aggregation = is_mean ? Aggregation::kMean : Aggregation::kSum;
          TableFeed feed(matrix, options);
          was_swept |= feed.is_swept();
          had_slots |= feed.num_slots() > 0;
          had_all |= feed.hot().size() == kRows;
          check_sums(feed, batches, floats, is_mean);
        }
  }
  CHECK(was_swept);
  CHECK(had_slots);
  CHECK(had_all);
}

TEST(only_rows_of_nodes_as_floats_are_aggregated) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder));
  FeedOptions options;
  options.aggregation = Aggregation::kSum;
  options.dtype = DType::kFloat64;
  CHECK_THROWS(TableFeed(matrix, options), std::invalid_argument);
  options.dtype = std::nullopt;
  options.space = IdSpace::kEdges;
  CHECK_THROWS(TableFeed(matrix, options), std::invalid_argument);
}

TEST(hot_rows_that_processes_share_are_the_same_rows) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder));
  const auto floats = make_rows<float>();
  const auto rows = std::as_bytes(std::span(floats));
  const auto batches = make_batches(200);
  std::vector<std::int64_t> hottest(kRows / 2);
  for (std::size_t i = 0; i < hottest.size(); ++i)
    hottest[i] = static_cast<std::int64_t>(kRows - 1 - 2 * i);
  bool had_some = false, had_all = false;
  for (const std::uint64_t memory : {400'000, 1'000'000, 2'300'000})
    for (const bool has_hottest : {false, true}) {
      FeedOptions options;
      options.memory = memory;
      options.slot_share = 0.3;
      options.window = kBatches;
      options.trial = batches[0];
      if (has_hottest) options.hottest = hottest;
      const std::uint64_t alone = TableFeed(matrix, options).hot().size();
      options.sharers = 2;
      TableFeed first(matrix, options);
      CHECK(first.shared_hot().has_value());
      CHECK(first.hot().size() >= alone);
      CHECK(first.stats().bytes <= memory + (std::size_t{2} << 20));
      check_feed(first, batches, rows);
      options.hottest.clear();
      const SharedHotRows& shared = *first.shared_hot();
      options.given = SharedHotRows{
          SealedMemory::of(shared.memory->descriptor(), shared.memory->bytes().size()),
          shared.count, shared.is_first};
      TableFeed second(matrix, options);
      CHECK_EQUAL(second.hot().size(), first.hot().size());
      CHECK_EQUAL(second.stats().shared_bytes, first.stats().shared_bytes);
      CHECK(second.stats().bytes <= memory + (std::size_t{2} << 20));
      check_feed(second, batches, rows);
      had_some |= second.hot().size() < kRows;
      had_all |= second.hot().size() == kRows;
    }
  CHECK(had_some);
  CHECK(had_all);
}

TEST(hot_rows_of_something_else_are_refused) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder));
  const auto memory_of = [](std::vector<std::int64_t> ids, std::size_t row_bytes) {
    const std::size_t begin = ids.size() * row_bytes;
    return SealedMemory::make(begin + ids.size() * 8, [&](std::span<std::byte> out) {
      std::memcpy(out.data() + begin, ids.data(), ids.size() * 8);
    });
  };
  FeedOptions options;
  options.memory = 1'000'000;
  options.sharers = 2;
  const std::size_t row_bytes = kColumns * 4;
  options.given = SharedHotRows{memory_of({1, 2, 3}, row_bytes), 3, false};
  CHECK_EQUAL(TableFeed(matrix, options).hot().size(), 3U);
  options.given = SharedHotRows{memory_of({1, 2, 3}, row_bytes), 2, false};
  CHECK_THROWS_WITH(TableFeed(matrix, options), std::invalid_argument, "are not 2 rows of");
  options.given->count = UINT64_MAX / row_bytes;
  CHECK_THROWS_WITH(TableFeed(matrix, options), std::invalid_argument, "another process");
  for (const std::vector<std::int64_t>& ids :
       {std::vector<std::int64_t>{1, 1}, {2, 1}, {1, kRows}, {-1, 1}}) {
    options.given = SharedHotRows{memory_of(ids, row_bytes), 2, false};
    CHECK_THROWS_WITH(TableFeed(matrix, options), std::invalid_argument, "hot rows must be");
  }
  options.given.reset();
  options.sharers = 0;
  CHECK_THROWS_WITH(TableFeed(matrix, options), std::invalid_argument, "sharers");
}
