// Readers: the ways to get rows out of a mounted matrix, behind one interface.
//
// | kind   | what it does                                    | good for                     |
// |--------|-------------------------------------------------|------------------------------|
// | mapped | copies from the mapping                         | files in memory              |
// | pread  | blocking reads by many threads                  | systems that forbid io_uring |
// | uring  | one io_uring, hundreds of reads in flight       | files on disk                |
// | auto   | mapped while all is in memory, else uring or    | everything                   |
// |        | pread (`make_disk_reader`)                      |                              |
//
// Every reader gives the bytes that are in the file, or throws: a file that was truncated is a
// FileChangedError, a disk that fails an IoError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graphmount/base/fetch.hpp"
#include "graphmount/system/mapping/file_residency.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/reading/read_plan.hpp"

namespace graphmount {

/// What a reader has asked of the system since it was made.
struct ReadStats {
  std::uint64_t rows = 0;
  std::uint64_t requests = 0;     // none by the mapping
  std::uint64_t bytes_read = 0;   // by these requests: whole blocks, gaps included
  std::uint64_t merged_rows = 0;  // that came with another row's request

  ReadStats& operator+=(const ReadStats& other) {
    rows += other.rows;
    requests += other.requests;
    bytes_read += other.bytes_read;
    merged_rows += other.merged_rows;
    return *this;
  }
  void add(const ReadRequest& request) {
    ++requests;
    bytes_read += request.bytes;
    merged_rows += request.end - request.first - 1;
  }
};

/// Not thread-safe: one for each thread that reads. It may go from thread to thread between calls,
/// and works in a child of fork.
class RowReader {
 public:
  virtual ~RowReader() = default;

  /// Reads rows, sorted and without repetition, and returns when all are there. The rows must
  /// exist. Throws IoError, FileChangedError; the outputs are then undefined.
  virtual void read(std::span<const RowRead> reads) = 0;

  /// Memory that it holds.
  virtual std::size_t bytes() const { return 0; }

  const ReadStats& stats() const { return stats_; }

 protected:
  ReadStats stats_;
};

enum class ReaderKind { kAuto, kMapped, kPread, kUring };

struct ReaderOptions {
  /// Whether uring and pread go past the page cache. Through it is better where processes share a
  /// file that mostly fits. By default uring does (and it is an error where the file system does
  /// not allow it), pread does where it can, and auto does for files that are mounted with the
  /// advice random, which are those that are large for the machine.
  std::optional<bool> direct;
  /// The most reads in flight at a time, each of which needs memory of its own.
  unsigned depth = kMostDepth;
  /// For rows that are wanted from nearly every block: longer reads, which need more memory.
  bool is_dense = false;

  // In two trials on a busy machine, half as many were 7 % slower, and twice as many no faster.
  static constexpr unsigned kMostDepth = 256;
};

/// Whether a reader of this kind copies from the mapping: auto does while all of the file is in
/// memory.
inline bool reads_mapping(ReaderKind kind, FileResidency& residency) {
  return kind == ReaderKind::kMapped || (kind == ReaderKind::kAuto && residency.is_all_resident());
}

/// `matrix` must outlive the reader. Throws IoError where a reader of this kind is not to be had.
std::unique_ptr<RowReader> make_row_reader(const FeatureMatrix& matrix, ReaderKind kind,
                                           const ReaderOptions& options = {});

/// The ways: a reader that copies rows from the mapping, for files in memory; one that has many
/// threads wait for the disk at the same time, each in a pread, past the page cache or through it
/// (where nothing is said, past it where the file system allows); and one with hundreds of reads in
/// flight, through one io_uring. Throw IoError where the system does not allow it.
std::unique_ptr<RowReader> make_mapped_rows(const FeatureMatrix& matrix);
std::unique_ptr<RowReader> make_pread_rows(const FeatureMatrix& matrix,
                                           const ReaderOptions& options);
std::unique_ptr<RowReader> make_uring_rows(const FeatureMatrix& matrix, bool direct,
                                           const ReaderOptions& options);

/// What auto reads with when not all of the file is in memory: uring, or pread where that is not to
/// be had or reads are to go through the page cache, or mapped if neither is to be had.
std::unique_ptr<RowReader> make_disk_reader(const FeatureMatrix& matrix,
                                            const ReaderOptions& options = {});

/// Nothing, or why there is no reader of this kind for this file.
std::optional<std::string> why_no_reader(const FeatureMatrix& matrix, ReaderKind kind);

/// Least rows that are worth handing to a thread.
inline std::size_t least_rows(std::uint64_t row_bytes) {
  constexpr std::uint64_t kLeastBytes = 1 << 16;
  return kLeastBytes / (row_bytes + 1) + 1;
}

/// Asks the processor for the first bytes of a row that will be copied soon; it fetches what
/// follows by itself.
inline constexpr std::uint64_t kFetchedRowBytes = 512;
inline void prefetch_row(const std::byte* row, std::uint64_t row_bytes) {
  for (std::uint64_t at = 0; at < std::min(row_bytes, kFetchedRowBytes); at += kLineBytes)
    fetch_line(row + at);
}

/// How many rows may be on their way to the cache at once.
inline std::size_t fetched_rows(std::uint64_t row_bytes) {
  return kFetchedLines / (std::min(row_bytes, kFetchedRowBytes) / kLineBytes + 1);
}

inline RowPlaces row_places(const FeatureMatrix& matrix) {
  return {matrix.matrix().offset, matrix.row_bytes()};
}

}  // namespace graphmount
