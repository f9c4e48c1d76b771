// Gathering: any ids against the rows themselves, by every reader.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "check.hpp"
#include "child_process.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/table/reading/gather.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr ReaderKind kKinds[] = {ReaderKind::kAuto, ReaderKind::kMapped, ReaderKind::kPread,
                                 ReaderKind::kUring};

float value_of(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>((row * 1009 + column) % 16'777'216);
}

std::filesystem::path write_floats(const TemporaryFolder& folder, std::uint64_t rows,
                                   std::uint64_t columns) {
  const auto path = folder / "x.gd";
  FeatureWriter writer(path, {.rows = rows, .columns = columns});
  std::vector<float> row(columns);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < columns; ++j) row[j] = value_of(i, j);
    writer.append(std::as_bytes(std::span(row)));
  }
  writer.finish();
  return path;
}

std::vector<std::int64_t> random_ids(std::uint64_t seed, std::size_t count, std::uint64_t rows) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> ids(count);
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random() % rows);
  return ids;
}

template <class Value>
void check_gather(const FeatureGather& gather, DType dtype, ReaderKind kind,
                  const std::vector<std::int64_t>& ids, std::uint64_t columns) {
  std::vector<Value> out(ids.size() * columns, Value{-1});
  gather.gather(ids, dtype, std::as_writable_bytes(std::span(out)), kind);
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (std::uint64_t j = 0; j < columns; ++j)
      if (out[i * columns + j] != Value{value_of(static_cast<std::uint64_t>(ids[i]), j)})
        FAIL("row " + std::to_string(ids[i]) + " at place " + std::to_string(i) + " is wrong");
}

void evict(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY);
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

template <class Body>
void with_kinds(const FeatureMatrix& matrix, Body&& body) {
  for (const ReaderKind kind : kKinds)
    if (!why_no_reader(matrix, kind)) body(kind);
}

}  // namespace

TEST(any_ids_by_every_reader) {
  for (const std::uint64_t columns : {1U, 3U, 128U, 1500U}) {
    const TemporaryFolder folder;
    const auto path = write_floats(folder, 2000, columns);
    const FeatureMatrix matrix(path);
    const FeatureGather gather(matrix);
    with_kinds(matrix, [&](ReaderKind kind) {
      check_gather<float>(gather, DType::kFloat32, kind, {}, columns);
      check_gather<float>(gather, DType::kFloat32, kind, {1999, 0, 1999, 1999, 5, 0}, columns);
      evict(path);
      for (const std::size_t count : {1U, 500U, 6000U}) {
        check_gather<float>(gather, DType::kFloat32, kind, random_ids(count, count, 2000), columns);
        check_gather<double>(gather, DType::kFloat64, kind, random_ids(count, count, 2000),
                             columns);
      }
    });
  }
}

TEST(more_ids_than_are_sorted_at_once) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_floats(folder, 50'000, 2));
  const FeatureGather gather(matrix);
  with_kinds(matrix, [&](ReaderKind kind) {
    const auto ids = random_ids(1, 700'000, 50'000);
    check_gather<float>(gather, DType::kFloat32, kind, ids, 2);
    check_gather<double>(gather, DType::kFloat64, kind, ids, 2);
  });
}

TEST(more_rows_than_are_converted_at_once) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_floats(folder, 5000, 1024));  // 20 MiB
  const FeatureGather gather(matrix);
  with_kinds(matrix, [&](ReaderKind kind) {
    check_gather<double>(gather, DType::kFloat64, kind, random_ids(1, 6000, 5000), 1024);
  });
}

TEST(quantized_rows) {
  const TemporaryFolder folder;
  FeatureWriter writer(folder / "x.gd",
                       {.dtype = DType::kInt8, .rows = 3, .columns = 2, .scales = {0.5F, 2}});
  const std::vector<std::int8_t> cells{1, 2, -3, 4, 127, -127};
  writer.append(std::as_bytes(std::span(cells)));
  writer.finish();
  const FeatureMatrix matrix(folder / "x.gd");
  const FeatureGather gather(matrix);
  with_kinds(matrix, [&](ReaderKind kind) {
    const std::vector<std::int64_t> ids{2, 0, 2};
    std::vector<float> floats(6);
    gather.gather(ids, DType::kFloat32, std::as_writable_bytes(std::span(floats)), kind);
    CHECK((floats == std::vector<float>{63.5F, -254, 0.5F, 4, 63.5F, -254}));
    std::vector<std::int8_t> bytes(6);
    gather.gather(ids, DType::kInt8, std::as_writable_bytes(std::span(bytes)), kind);
    CHECK((bytes == std::vector<std::int8_t>{127, -127, 1, 2, 127, -127}));
  });
}

TEST(rows_without_columns) {
  const TemporaryFolder folder;
  FeatureWriter writer(folder / "x.gd", {.rows = 5, .columns = 0});
  writer.finish();
  const FeatureMatrix matrix(folder / "x.gd");
  const FeatureGather gather(matrix);
  with_kinds(matrix, [&](ReaderKind kind) {
    gather.gather(std::vector<std::int64_t>{4, 0}, DType::kFloat32, {}, kind);
  });
}

TEST(bad_requests_are_refused) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_floats(folder, 10, 2));
  const FeatureGather gather(matrix);
  Bytes out(16);
  with_kinds(matrix, [&](ReaderKind kind) {
    const auto ask = [&](const std::vector<std::int64_t>& ids, DType dtype) {
      gather.gather(ids, dtype, out, kind);
    };
    CHECK_THROWS_WITH(ask({0, 10}, DType::kFloat32), IdError, "row 10 (at position 1)");
    CHECK_THROWS_WITH(ask({-1, 0}, DType::kFloat32), IdError, "row -1 (at position 0)");
    CHECK_THROWS_WITH(ask({0}, DType::kFloat32), std::invalid_argument, "16 bytes for 1 rows of 8");
    CHECK_THROWS_WITH(ask({0, 1}, DType::kInt32), std::invalid_argument, "cannot be gathered");
    ask({0, 1}, DType::kFloat32);
  });
}

TEST(a_truncated_file_is_an_error) {
  for (const ReaderKind kind : kKinds) {
    const TemporaryFolder folder;
    const auto path = write_floats(folder, 5000, 128);
    const FeatureMatrix matrix(path);
    if (why_no_reader(matrix, kind)) continue;
    const FeatureGather gather(matrix);
    check_gather<float>(gather, DType::kFloat32, kind, {0, 4999}, 128);
    // Also for rows that are still there: the file is not what was mounted.
    std::filesystem::resize_file(path, 1'000'000);
    CHECK_THROWS_WITH(check_gather<float>(gather, DType::kFloat32, kind, {0, 1}, 128),
                      FileChangedError, "to 1000000 bytes while mounted");
    CHECK_THROWS(check_gather<float>(gather, DType::kFloat32, kind, {0, 4999}, 128),
                 FileChangedError);
  }
}

TEST(many_threads_and_children) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_floats(folder, 5000, 32));
  const FeatureGather gather(matrix);
  with_kinds(matrix, [&](ReaderKind kind) {
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 6; ++thread)
      threads.emplace_back([&, thread] {
        try {
          for (std::uint64_t seed = 0; seed < 10; ++seed)
            check_gather<float>(gather, DType::kFloat32, kind,
                                random_ids(thread * 100 + seed, 2000, 5000), 32);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s\n", error.what());
          ++failures;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK_EQUAL(failures.load(), 0);
    if (!kCanFork) return;
    CHECK(is_success(run_in_child([&] {
      check_gather<double>(gather, DType::kFloat64, kind, random_ids(7, 2000, 5000), 32);
    })));
    check_gather<float>(gather, DType::kFloat32, kind, random_ids(8, 2000, 5000), 32);
  });
}
