// A reader with hundreds of reads in flight, through one io_uring: for files that are on disk.
#include <cerrno>

#include "graphmount/base/error.hpp"
#include "graphmount/table/reading/row_reader.hpp"

#ifdef __linux__
#include <algorithm>
#include <vector>

#include "graphmount/system/disk/ring_reads.hpp"

namespace graphmount {
namespace {

constexpr unsigned kWaitFor = 16;

class UringRows final : public RowReader {
 public:
  UringRows(const FeatureMatrix& matrix, bool direct, const ReaderOptions& options)
      : file_(matrix.mount().file(), direct),
        places_(row_places(matrix)),
        limits_(limits_for(file_.block_bytes(), options.is_dense)),
        requests_(std::max(options.depth, 1U)),
        ring_(file_, std::max(options.depth, 1U), limits_.most_bytes) {}

  void read(std::span<const RowRead> reads) override {
    ReadPlan plan(reads, places_, limits_);
    const auto next = [&](std::size_t slot, RingRead& read) {
      ReadRequest& request = requests_[slot];
      if (!plan.next(request)) return false;
      stats_.add(request);
      read = {request.offset, request.bytes, request.needed};
      return true;
    };
    const auto done = [&](std::size_t slot, const RingRead&, const std::byte* bytes) {
      copy_rows(requests_[slot], bytes, reads, places_);
    };
    ring_.run(kWaitFor, next, done);
    stats_.rows += reads.size();
  }

  std::size_t bytes() const override { return ring_.bytes(); }

 private:
  BlockFile file_;
  RowPlaces places_;
  RequestLimits limits_;
  std::vector<ReadRequest> requests_;  // in flight, by slot
  RingReads ring_;
};

}  // namespace

std::unique_ptr<RowReader> make_uring_rows(const FeatureMatrix& matrix, bool direct,
                                           const ReaderOptions& options) {
  return std::make_unique<UringRows>(matrix, direct, options);
}

}  // namespace graphmount

#else

namespace graphmount {

std::unique_ptr<RowReader> make_uring_rows(const FeatureMatrix& matrix, bool,
                                           const ReaderOptions&) {
  throw IoError(matrix.mount().file().path(),
                "cannot be read by io_uring, which only Linux has; use another reader", ENOSYS);
}

}  // namespace graphmount

#endif
