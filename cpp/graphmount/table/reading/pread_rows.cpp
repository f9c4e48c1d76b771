// A reader that has many threads wait for the disk at the same time, each in a pread: for systems
// that forbid io_uring.
#include <algorithm>
#include <atomic>

#include "graphmount/base/error.hpp"
#include "graphmount/system/disk/block_file.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {
namespace {

constexpr unsigned kMostThreads = 32;
constexpr std::size_t kRequestsPerThread = 96;  // planned, not in flight

std::unique_ptr<BlockFile> open_file(const MappedFile& file, std::optional<bool> direct) {
  try {
    return std::make_unique<BlockFile>(file, direct.value_or(true));
  } catch (const IoError&) {
    if (direct) throw;
    return std::make_unique<BlockFile>(file, false);
  }
}

class PreadRows final : public RowReader {
 public:
  PreadRows(const FeatureMatrix& matrix, const ReaderOptions& options)
      : file_(open_file(matrix.mount().file(), options.direct)),
        places_(row_places(matrix)),
        limits_(limits_for(file_->block_bytes(), options.is_dense)),
        num_threads_(std::clamp(options.depth, 1U, kMostThreads)),
        requests_(num_threads_ * kRequestsPerThread),
        memory_(num_threads_ * limits_.most_bytes) {}

  void read(std::span<const RowRead> reads) override {
    ReadPlan plan(reads, places_, limits_);
    std::size_t count = requests_.size();
    while (count == requests_.size()) {
      count = 0;
      while (count < requests_.size() && plan.next(requests_[count]))
        stats_.add(requests_[count++]);
      read_requests(reads, count);
    }
    stats_.rows += reads.size();
  }

  std::size_t bytes() const override { return requests_.bytes() + memory_.bytes(); }

 private:
  void read_requests(std::span<const RowRead> reads, std::size_t count) {
    // A lane is a thread with its own memory, taking requests until none is left.
    std::atomic<std::size_t> next = 0;
    overlapped_for(std::min<std::size_t>(count, num_threads_), num_threads_, [&](std::size_t lane) {
      std::byte* const bytes = memory_.data() + lane * limits_.most_bytes;
      for (std::size_t i; (i = next.fetch_add(1)) < count;) {
        const ReadRequest& request = requests_[i];
        try {
          file_->read(request.offset, bytes, request.bytes, request.needed);
        } catch (...) {
          next = count;
          throw;
        }
        copy_rows(request, bytes, reads, places_);
      }
    });
  }

  std::unique_ptr<BlockFile> file_;
  RowPlaces places_;
  RequestLimits limits_;
  unsigned num_threads_;
  Buffer<ReadRequest> requests_;
  Buffer<std::byte> memory_;
};

}  // namespace

std::unique_ptr<RowReader> make_pread_rows(const FeatureMatrix& matrix,
                                           const ReaderOptions& options) {
  return std::make_unique<PreadRows>(matrix, options);
}

}  // namespace graphmount
