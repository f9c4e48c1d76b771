// Feature matrices from bytes to file and back, for every dtype and any cut into pieces.
#include <cmath>
#include <random>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/verify/verify.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

Bytes random_cells(std::uint64_t count, DType dtype) {
  std::mt19937_64 random(count);
  Bytes bytes(count * traits_of(dtype).item_bytes);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random() % (dtype == DType::kBool ? 2 : 256));
  return bytes;
}

void check_round_trip(const FeatureLayout& layout, std::size_t piece) {
  const TemporaryFolder folder;
  const auto path = folder / "x.gd";
  const Bytes bytes = random_cells(*layout.rows * layout.columns, layout.dtype);
  FeatureWriter writer(path, layout);
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    writer.append(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  CHECK(!std::filesystem::exists(path));
  writer.finish();
  const FeatureMatrix features(path);
  CHECK_EQUAL(features.num_rows(), *layout.rows);
  CHECK_EQUAL(features.matrix().columns, layout.columns);
  CHECK_EQUAL(features.row_bytes(), layout.columns * traits_of(layout.dtype).item_bytes);
  CHECK(features.matrix().dtype == layout.dtype);
  const std::uint64_t some = *layout.rows / 2;
  Bytes rows((*layout.rows - some) * features.row_bytes());
  features.read_rows(some, rows);
  CHECK(
      std::equal(rows.begin(), rows.end(), bytes.end() - static_cast<std::ptrdiff_t>(rows.size())));
  if (features.row_bytes() > 0) {
    Bytes more(rows.size() + features.row_bytes());
    CHECK_THROWS_WITH(features.read_rows(some, more), IdError, "from row");
    CHECK_THROWS(features.read_rows(UINT64_MAX, std::span(more).first(features.row_bytes())),
                 IdError);
  }
  CHECK_EQUAL(features.is_one_dimensional(), layout.one_dimensional);
  CHECK_EQUAL(features.mount().header().order, layout.order);
  const auto* data = features.mount().data<std::byte>(features.matrix());
  CHECK(Bytes(data, data + bytes.size()) == bytes);
  CHECK_EQUAL(verify_file(path, {}).num_problems, 0U);
}

}  // namespace

TEST(round_trips_of_every_dtype) {
  for (const DTypeTraits& traits : kDTypes)
    for (const std::size_t piece : {1UL, 7UL, 100'000UL})
      check_round_trip({.dtype = traits.dtype, .rows = 37, .columns = 5, .order = 9}, piece);
}

TEST(round_trips_of_odd_shapes) {
  check_round_trip({.rows = 0, .columns = 5}, 10);
  check_round_trip({.rows = 5, .columns = 0}, 10);
  check_round_trip({.rows = 0, .columns = 0}, 10);
  check_round_trip({.rows = 1, .columns = 100'000}, 4096);
  check_round_trip({.dtype = DType::kInt64, .rows = 1000, .columns = 1, .one_dimensional = true},
                   8000);
}

TEST(round_trips_of_more_than_one_chunk) {
  for (const std::size_t piece :
       {kChunkBytes / 3, kChunkBytes, kChunkBytes * 2 + 5, kChunkBytes * 9})
    check_round_trip({.rows = 5000, .columns = 200}, piece);
}

TEST(refuses_too_much_and_too_little) {
  const TemporaryFolder folder;
  const FeatureLayout layout{.rows = 10, .columns = 2};
  FeatureWriter writer(folder / "x.gd", layout);
  CHECK_THROWS_WITH(writer.append(Bytes(81)), std::invalid_argument,
                    "more was appended than the section holds");
  writer.append(Bytes(79));
  CHECK_THROWS_WITH(writer.append(Bytes(2)), std::invalid_argument,
                    "more was appended than the section holds");
  CHECK_THROWS_WITH(writer.finish(), std::invalid_argument, "only 79 of 80 bytes");
  CHECK(!std::filesystem::exists(folder / "x.gd"));
  writer.append(Bytes(1));
  writer.finish();
  CHECK_THROWS(writer.append(Bytes(1)), std::invalid_argument);
  CHECK_THROWS(FeatureWriter(folder / "y.gd", {.rows = UINT64_MAX, .columns = 3}),
               std::invalid_argument);
  CHECK_THROWS(FeatureWriter(folder / "y.gd", {.rows = std::uint64_t{1} << 61, .columns = 1}),
               std::invalid_argument);
  CHECK_THROWS(FeatureWriter(folder / "no" / "y.gd", layout), IoError);
}

TEST(prefetches_rows) {
  const TemporaryFolder folder;
  FeatureWriter writer(folder / "x.gd", {.rows = 100, .columns = 1024});
  writer.append(Bytes(100 * 4096));
  writer.finish();
  const FeatureMatrix features(folder / "x.gd");
  CHECK_EQUAL(features.prefetch({}), 0U);
  CHECK_EQUAL(features.prefetch(std::vector<std::int64_t>{5, 99, 5, 6}), 3U * 4096);
  CHECK_THROWS_WITH(features.prefetch(std::vector<std::int64_t>{5, 100}), IdError,
                    "row 100 (at position 1)");
  CHECK_THROWS(features.prefetch(std::vector<std::int64_t>{-1}), IdError);
}

TEST(refuses_tables_that_are_no_matrix) {
  const TemporaryFolder folder;
  const auto path = folder / "x.gd";
  FeatureWriter writer(path, {.rows = 10, .columns = 2});
  writer.append(Bytes(80));
  writer.finish();
  const Bytes good = read_bytes(path);
  const auto open_with = [&](const auto& change) {
    Header header = FeatureMatrix(path).mount().header();
    change(header);
    Bytes bytes = good;
    const Bytes encoded = encode_header(header);
    std::copy(encoded.begin(), encoded.end(), bytes.begin());
    write_bytes(folder / "bad.gd", bytes);
    FeatureMatrix(folder / "bad.gd");
  };
  CHECK_THROWS_WITH(open_with([](Header& h) { h.num_rows = 20; }), FormatError, "disagree");
  CHECK_THROWS_WITH(open_with([](Header& h) { h.num_columns = 1; }), FormatError, "disagree");
  CHECK_THROWS_WITH(open_with([](Header& h) { h.flags = kFlagOneDimensional; }), FormatError,
                    "one-dimensional table has 2 columns");
  CHECK_THROWS_WITH(open_with([](Header& h) { h.sections[0].direction = Direction::kIn; }),
                    FormatError, "matrix");
  CHECK_THROWS_WITH(
      open_with([](Header& h) { h.sections[0].kind = static_cast<SectionKind>(0x9000); }),
      FormatError, "no section with a matrix");
  CHECK_THROWS_WITH(open_with([](Header& h) { h.flags = kFlagUndirected; }), FormatError, "graph");
}

TEST(learns_the_number_of_rows_at_the_end) {
  for (const std::uint64_t rows : {0U, 1U, 1000U, 300'000U}) {
    const TemporaryFolder folder;
    const Bytes bytes = random_cells(rows * 2, DType::kInt8);
    FeatureWriter known(folder / "known.gd",
                        {.dtype = DType::kInt8, .rows = rows, .columns = 2, .scales = {1, 2}});
    FeatureWriter open(folder / "open.gd", {.dtype = DType::kInt8, .columns = 2, .scales = {1, 2}});
    for (FeatureWriter* writer : {&known, &open})
      for (std::size_t at = 0; at < bytes.size(); at += 77'777)
        writer->append(
            std::span(bytes).subspan(at, std::min<std::size_t>(77'777, bytes.size() - at)));
    CHECK_THROWS_WITH(open.finish(), std::invalid_argument, "nobody said how many rows");
    CHECK_THROWS_WITH(open.finish(rows + 1), std::invalid_argument, "bytes were appended");
    CHECK_THROWS_WITH(known.finish(rows + 1), std::invalid_argument, "rows, but has");
    open.finish(rows);
    known.finish();
    CHECK(read_bytes(folder / "known.gd") == read_bytes(folder / "open.gd"));
    CHECK_EQUAL(verify_file(folder / "open.gd", {}).num_problems, 0U);
  }
}

TEST(keeps_scales) {
  const TemporaryFolder folder;
  const auto path = folder / "x.gd";
  FeatureWriter writer(path, {.dtype = DType::kInt8, .rows = 2, .columns = 3, .scales = {1, 0, 2}});
  writer.append(Bytes(6));
  writer.finish();
  const FeatureMatrix features(path);
  CHECK(features.scales() != nullptr);
  CHECK(features.read_scales() == std::vector<float>{1, 0, 2});
  CHECK_EQUAL(verify_file(path, {}).num_problems, 0U);
  for (const float bad : {-1.0F, INFINITY, NAN})
    CHECK_THROWS_WITH(
        FeatureWriter(path, {.dtype = DType::kInt8, .rows = 2, .columns = 1, .scales = {bad}}),
        std::invalid_argument, "not a finite number");
  CHECK_THROWS_WITH(FeatureWriter(path, {.rows = 2, .columns = 1, .scales = {1}}),
                    std::invalid_argument, "int8");
  CHECK_THROWS_WITH(
      FeatureWriter(path, {.dtype = DType::kInt8, .rows = 2, .columns = 2, .scales = {1}}),
      std::invalid_argument, "1 scales for 2 columns");
}
