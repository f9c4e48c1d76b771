// Readers: each gives the rows that are in the file, for rows of any size, or says what is wrong.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/table/reading/row_reader.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

struct Way {
  ReaderKind kind;
  std::optional<bool> direct;
};

constexpr Way kWays[] = {
    {ReaderKind::kMapped, std::nullopt}, {ReaderKind::kAuto, std::nullopt},
    {ReaderKind::kPread, std::nullopt},  {ReaderKind::kPread, false},
    {ReaderKind::kUring, std::nullopt},  {ReaderKind::kUring, false},
};

/// Every reader of the machine.
template <class Body>
void with_readers(const FeatureMatrix& matrix, Body&& body) {
  for (const Way& way : kWays) {
    if (why_no_reader(matrix, way.kind)) continue;
    const auto reader = make_row_reader(matrix, way.kind, {.direct = way.direct});
    body(*reader, way.kind);
  }
}

std::byte byte_of(std::uint64_t row, std::uint64_t place) {
  return static_cast<std::byte>((row * 0x9E3779B97F4A7C15U >> 40) + place * 31);
}

/// Rows that are a function of their number.
std::filesystem::path write_rows(const TemporaryFolder& folder, std::uint64_t num_rows,
                                 std::uint64_t row_bytes) {
  const auto path = folder / ("rows-" + std::to_string(row_bytes) + ".gd");
  FeatureWriter writer(path, {.dtype = DType::kUInt8, .rows = num_rows, .columns = row_bytes});
  Bytes row(row_bytes);
  for (std::uint64_t i = 0; i < num_rows; ++i) {
    for (std::uint64_t j = 0; j < row_bytes; ++j) row[j] = byte_of(i, j);
    writer.append(row);
  }
  writer.finish();
  return path;
}

void check_rows(RowReader& reader, const std::set<std::uint64_t>& rows, std::uint64_t row_bytes) {
  Bytes out(rows.size() * row_bytes, std::byte{0xEE});
  std::vector<RowRead> reads;
  for (const std::uint64_t row : rows)
    reads.push_back({row, out.data() + reads.size() * row_bytes});
  const std::uint64_t before = reader.stats().rows;
  reader.read(reads);
  CHECK_EQUAL(reader.stats().rows - before, rows.size());
  for (const RowRead& read : reads)
    for (std::uint64_t j = 0; j < row_bytes; ++j)
      if (read.out[j] != byte_of(read.row, j))
        FAIL("row " + std::to_string(read.row) + " of " + std::to_string(row_bytes) +
             " bytes is wrong at byte " + std::to_string(j));
}

std::set<std::uint64_t> some_rows(std::uint64_t seed, std::size_t count, std::uint64_t num_rows) {
  std::mt19937_64 random(seed);
  std::set<std::uint64_t> rows;
  while (rows.size() < count) rows.insert(random() % num_rows);
  return rows;
}

void evict(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY);
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

}  // namespace

TEST(rows_of_every_size) {
  for (const std::uint64_t row_bytes :
       {1U, 2U, 7U, 64U, 511U, 512U, 513U, 1000U, 4095U, 4096U, 4097U, 8191U, 12288U, 12289U}) {
    const TemporaryFolder folder;
    const std::uint64_t num_rows = 3000;
    const FeatureMatrix matrix(write_rows(folder, num_rows, row_bytes));
    with_readers(matrix, [&](RowReader& reader, ReaderKind) {
      check_rows(reader, {}, row_bytes);
      check_rows(reader, {0}, row_bytes);
      check_rows(reader, {num_rows - 1}, row_bytes);
      check_rows(reader, {0, num_rows - 1}, row_bytes);
      check_rows(reader, some_rows(row_bytes, 1, num_rows), row_bytes);
      check_rows(reader, some_rows(row_bytes, 37, num_rows), row_bytes);
      check_rows(reader, some_rows(row_bytes, 1500, num_rows), row_bytes);
      check_rows(reader, some_rows(row_bytes, num_rows, num_rows), row_bytes);
    });
  }
}

TEST(rows_longer_than_any_request) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder, 20, 300'001));
  with_readers(matrix, [&](RowReader& reader, ReaderKind) {
    check_rows(reader, {0, 7, 8, 19}, 300'001);
    check_rows(reader, some_rows(1, 20, 20), 300'001);
  });
}

TEST(rows_that_are_not_in_memory) {
  const TemporaryFolder folder;
  const auto path = write_rows(folder, 20'000, 513);
  const FeatureMatrix matrix(path);
  with_readers(matrix, [&](RowReader& reader, ReaderKind) {
    evict(path);
    check_rows(reader, some_rows(3, 5000, 20'000), 513);
  });
}

TEST(rows_without_bytes) {
  const TemporaryFolder folder;
  FeatureWriter writer(folder / "x.gd", {.rows = 5, .columns = 0});
  writer.finish();
  const FeatureMatrix matrix(folder / "x.gd");
  with_readers(matrix, [&](RowReader& reader, ReaderKind) { check_rows(reader, {0, 4}, 0); });
}

TEST(counts_what_it_asks_for) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder, 3000, 512));
  with_readers(matrix, [&](RowReader& reader, ReaderKind kind) {
    check_rows(reader, {0, 1, 2, 2900}, 512);
    const ReadStats& stats = reader.stats();
    CHECK_EQUAL(stats.rows, 4U);
    if (kind != ReaderKind::kPread && kind != ReaderKind::kUring) return;
    CHECK_EQUAL(stats.requests, 2U);
    CHECK_EQUAL(stats.merged_rows, 2U);
    CHECK(stats.bytes_read >= 4 * 512 && stats.bytes_read <= 2 * 4096);
  });
}

TEST(a_truncated_file_is_an_error) {
  for (const std::uint64_t size : {0U, 4096U, 100'000U, 700'001U})
    for (const Way& way : kWays) {
      const TemporaryFolder folder;
      const auto path = write_rows(folder, 3000, 512);
      const FeatureMatrix matrix(path);
      if (why_no_reader(matrix, way.kind)) continue;
      const auto reader = make_row_reader(matrix, way.kind, {.direct = way.direct});
      check_rows(*reader, {0, 2999}, 512);
      const auto whole = std::filesystem::file_size(path);
      std::filesystem::resize_file(path, size);
      for (const auto& rows : {some_rows(1, 2000, 3000), {2999}})
        CHECK_THROWS_WITH(
            check_rows(*reader, rows, 512), FileChangedError,
            "truncated from " + std::to_string(whole) + " to " + std::to_string(size));
    }
}

TEST(a_lost_descriptor_is_an_error) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder, 3000, 512));
  const int unused = dup(0);  // the next descriptors are those of the reader
  close(unused);
  const auto reader = make_row_reader(matrix, ReaderKind::kPread);
  check_rows(*reader, {5}, 512);
  const int kept = dup(unused);
  close(unused);
  CHECK_THROWS_WITH(check_rows(*reader, some_rows(1, 2000, 3000), 512), IoError,
                    "rows-512.gd: cannot read: Bad file descriptor");
  CHECK_EQUAL(dup2(kept, unused), unused);
  close(kept);
  check_rows(*reader, some_rows(1, 2000, 3000), 512);
}

TEST(replacing_the_file_changes_nothing) {
  const TemporaryFolder folder;
  const auto path = write_rows(folder, 3000, 512);
  const FeatureMatrix matrix(path);
  std::filesystem::remove(path);
  std::filesystem::rename(write_rows(folder, 10, 100), path);
  with_readers(matrix, [&](RowReader& reader, ReaderKind) {
    check_rows(reader, some_rows(1, 2000, 3000), 512);
  });
}

TEST(readers_work_after_fork) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder, 3000, 512));
  with_readers(matrix, [&](RowReader& reader, ReaderKind) {
    check_rows(reader, some_rows(1, 2000, 3000), 512);
    const int status = run_in_child([&] {
      for (std::uint64_t seed = 0; seed < 5; ++seed)
        check_rows(reader, some_rows(seed, 2000, 3000), 512);
    });
    CHECK(is_success(status));
    check_rows(reader, some_rows(2, 2000, 3000), 512);
  });
}

TEST(parents_and_children_read_at_the_same_time) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder, 3000, 512));
  with_readers(matrix, [&](RowReader& reader, ReaderKind) {
    check_rows(reader, {1}, 512);
    const int status = run_in_child([&] {
      const int inner = run_in_child([&] {
        for (std::uint64_t seed = 0; seed < 50; ++seed)
          check_rows(reader, some_rows(seed, 500, 3000), 512);
      });
      CHECK(is_success(inner));
      for (std::uint64_t seed = 0; seed < 50; ++seed)
        check_rows(reader, some_rows(seed, 500, 3000), 512);
    });
    CHECK(is_success(status));
    for (std::uint64_t seed = 0; seed < 50; ++seed)
      check_rows(reader, some_rows(seed, 500, 3000), 512);
  });
}

TEST(each_thread_has_its_reader) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder, 3000, 100));
  for (const Way& way : kWays) {
    if (why_no_reader(matrix, way.kind)) continue;
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        try {
          const auto reader = make_row_reader(matrix, way.kind, {.direct = way.direct});
          for (std::uint64_t seed = 0; seed < 20; ++seed)
            check_rows(*reader, some_rows(thread * 100 + seed, 700, 3000), 100);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s\n", error.what());
          ++failures;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK_EQUAL(failures.load(), 0);
  }
}

TEST(a_reader_goes_from_thread_to_thread) {
  const TemporaryFolder folder;
  const FeatureMatrix matrix(write_rows(folder, 3000, 100));
  with_readers(matrix, [&](RowReader& reader, ReaderKind) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      bool is_fine = false;
      std::thread([&] {
        check_rows(reader, some_rows(seed, 700, 3000), 100);
        is_fine = true;
      }).join();
      CHECK(is_fine);
    }
  });
}

TEST(refused_readers_say_why) {
  if (!kCanDoWithoutDescriptors) skip("UBSan needs descriptors");
  const TemporaryFolder folder;
  const auto path = write_rows(folder, 3000, 512);
  const int status = run_in_child([&] {
    const FeatureMatrix matrix(path);
    matrix.mount().advise(Advice::kRandom);
    evict(path);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(dup(0));  // room for no more, so no reader can be made
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_THROWS_WITH(make_row_reader(matrix, ReaderKind::kUring), IoError, "rows-512.gd: cannot");
    CHECK_THROWS_WITH(make_row_reader(matrix, ReaderKind::kPread), IoError, "Too many open files");
    CHECK(why_no_reader(matrix, ReaderKind::kPread)->find("Too many") != std::string::npos);
    check_rows(*make_row_reader(matrix, ReaderKind::kMapped), {1, 2}, 512);
    check_rows(*make_row_reader(matrix, ReaderKind::kAuto), {1, 2}, 512);
    CHECK_THROWS_WITH(make_disk_reader(matrix, {.direct = true}), IoError, "O_DIRECT");
  });
  CHECK(is_success(status));
}

TEST(auto_does_without_io_uring) {
  if (!kCanDoWithoutDescriptors) skip("UBSan needs descriptors");
  const TemporaryFolder folder;
  const auto path = write_rows(folder, 3000, 512);
  const int status = run_in_child([&] {
    const FeatureMatrix matrix(path);
    evict(path);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    // Room for the file, but not for the ring.
    const int lowest = dup(0);
    close(lowest);
    limit.rlim_cur = static_cast<rlim_t>(lowest) + 1;
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_THROWS_WITH(make_row_reader(matrix, ReaderKind::kUring), IoError, "io_uring");
    check_rows(*make_disk_reader(matrix), some_rows(1, 2000, 3000), 512);
  });
  CHECK(is_success(status));
}
