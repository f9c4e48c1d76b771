// Which reads to ask of the disk for some rows: whole blocks, with rows that share a block or lie
// near each other in one request.
//
// A disk takes as long for a few blocks as for one, so a short gap between two rows is cheaper to
// read than to skip. Rows longer than a request are cut, so that any row goes through buffers of
// one size. Requests come one by one, in the order of the file: nothing is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graphmount/base/types.hpp"

namespace graphmount {

/// One row, and where its bytes are to go.
struct RowRead {
  std::uint64_t row;
  std::byte* out;
};

/// Where rows lie in a file.
struct RowPlaces {
  std::uint64_t first_byte = 0;  // of row 0
  std::uint64_t row_bytes = 0;

  std::uint64_t begin_of(std::uint64_t row) const { return first_byte + row * row_bytes; }
};

/// What a request may look like.
struct RequestLimits {
  std::uint64_t block_bytes = 1;  // requests begin and end at multiples of this
  std::uint64_t gap_bytes = 0;    // of blocks nobody wants, read rather than skipped
  std::uint64_t most_bytes = 0;   // a multiple of a block
};

/// What a disk reads at least.
inline constexpr std::uint64_t kDiskBlockBytes = 4096;

/// The limits for a file that is read in blocks of this size. `is_dense` if nearly all blocks are
/// wanted: the longer a request is, the less processor time its blocks take.
inline RequestLimits limits_for(std::uint64_t block_bytes, bool is_dense = false) {
  // One trial of each on a virtual NVMe disk of a busy machine (so good to some tens of percent),
  // 58,000 of 1.3 million neighboring rows of 512 bytes, 256 reads in flight: 290 k rows/s with a
  // gap of 4 KiB, 411 k with 8 KiB, 416 k with 16 KiB, for twice the bytes. Denser rows (55,000 of
  // 380,000) gain by longer requests: 633 k rows/s with 16 KiB, 802 k with 32 KiB, 981 k with
  // 64 KiB, for twice the memory. A sweep for 16 batches, which needs a sixth of all blocks, took
  // 21 ms of the processors for a batch with a gap of 8 KiB, 19 with 16, 32 or 64 KiB.
  constexpr std::uint64_t kGapBytes = 8192, kDenseGapBytes = 16384;
  constexpr std::uint64_t kMostBytes = 32768, kMostDenseBytes = 131072;
  return {.block_bytes = block_bytes,
          .gap_bytes = is_dense ? kDenseGapBytes : kGapBytes,
          .most_bytes = round_up(is_dense ? kMostDenseBytes : kMostBytes, block_bytes)};
}

/// One read: some blocks, with all or part of reads[first] to reads[end - 1] in them.
struct ReadRequest {
  std::uint64_t offset;
  std::uint64_t bytes;   // whole blocks; the last may end behind the file
  std::uint64_t needed;  // up to the last byte that is wanted
  std::size_t first, end;
};

class ReadPlan {
 public:
  /// `reads` is sorted by row, and no row comes twice.
  ReadPlan(std::span<const RowRead> reads, const RowPlaces& places, const RequestLimits& limits)
      : reads_(reads), places_(places), limits_(limits) {
    if (places.row_bytes == 0) at_ = reads.size();
  }

  /// The next request; false if there are no more.
  bool next(ReadRequest& request) {
    if (at_ == reads_.size()) return false;
    const std::uint64_t block = limits_.block_bytes;
    const std::uint64_t offset = std::max(begin_of(at_), cut_) / block * block;
    const std::uint64_t limit = offset + limits_.most_bytes;
    std::uint64_t end = 0;
    request.first = at_;
    for (;;) {
      end = begin_of(at_) + places_.row_bytes;
      if (end > limit) {
        // The rest of this row comes with the next request.
        end = cut_ = limit;
        request.end = at_ + 1;
        break;
      }
      request.end = ++at_;
      if (at_ == reads_.size()) break;
      const std::uint64_t next_block = begin_of(at_) / block * block;
      if (next_block >= limit || next_block > round_up(end, block) + limits_.gap_bytes) break;
    }
    request.offset = offset;
    request.needed = end - offset;
    request.bytes = round_up(request.needed, block);
    return true;
  }

 private:
  std::uint64_t begin_of(std::size_t i) const { return places_.begin_of(reads_[i].row); }

  std::span<const RowRead> reads_;
  RowPlaces places_;
  RequestLimits limits_;
  std::size_t at_ = 0;
  std::uint64_t cut_ = 0;  // where the row at `at_` goes on, if the last request had part of it
};

/// Copies the rows of a request out of its bytes.
inline void copy_rows(const ReadRequest& request, const std::byte* bytes,
                      std::span<const RowRead> reads, const RowPlaces& places) {
  const std::uint64_t end = request.offset + request.needed;
  for (const RowRead& read : reads.subspan(request.first, request.end - request.first)) {
    const std::uint64_t row_begin = places.begin_of(read.row);
    const std::uint64_t from = std::max(row_begin, request.offset);
    const std::uint64_t to = std::min(row_begin + places.row_bytes, end);
    std::copy_n(bytes + (from - request.offset), to - from, read.out + (from - row_begin));
  }
}

}  // namespace graphmount
