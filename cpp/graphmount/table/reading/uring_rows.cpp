#include "graphmount/table/reading/uring_rows.hpp"

#include <cerrno>

#include "graphmount/base/error.hpp"

#ifdef __linux__
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <system_error>
#include <vector>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/system/disk/block_file.hpp"
#include "graphmount/system/disk/uring.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {
namespace {

// Completions are worth waiting for in numbers: each wait is a system call and a switch.
constexpr unsigned kWaitFor = 16;

class UringRows final : public RowReader {
 public:
  UringRows(const FeatureMatrix& matrix, bool direct, const ReaderOptions& options)
      : file_(matrix.mount().file(), direct),
        places_(row_places(matrix)),
        limits_(limits_for(file_.block_bytes(), options.is_dense)),
        depth_(std::max(options.depth, 1U)),
        slots_(depth_) {
    free_.reserve(depth_);
    start();
  }

  void read(std::span<const RowRead> reads) override {
    if (!ring_ || owner_ != getpid()) start();
    ReadPlan plan(reads, places_, limits_);
    ReadRequest request{};
    std::exception_ptr failure;
    bool has_more = plan.next(request);
    try {
      while (has_more || free_.size() < depth_) {
        try {
          if (!failure) check_interrupt();
        } catch (...) {
          failure = std::current_exception();
          has_more = false;
          continue;
        }
        for (; has_more && !free_.empty(); has_more = plan.next(request)) {
          queue(request);
          stats_.add(request);
        }
        ring_->submit_and_wait(std::min(kWaitFor, depth_ - static_cast<unsigned>(free_.size())));
        for (Uring::Completion completion{}; ring_->take(completion);) {
          const auto slot = static_cast<std::uint32_t>(completion.tag);
          free_.push_back(slot);
          if (failure) continue;
          try {
            finish(slot, completion.result, reads);
          } catch (...) {
            // What is in flight still writes to our memory, so it is waited for first.
            failure = std::current_exception();
            has_more = false;
          }
        }
      }
    } catch (const std::system_error& error) {
      // Reads may be in flight, and nobody will wait for them: their memory is never freed.
      ring_.reset();
      memory_.abandon();
      throw IoError(file_.mapping().path(),
                    "cannot be read by io_uring, which this system has stopped; use another reader",
                    error.code().value());
    }
    if (failure) std::rethrow_exception(failure);
    stats_.rows += reads.size();
  }

  std::size_t bytes() const override { return memory_.bytes(); }

 private:
  // Also in a child of fork, whose copy of the ring is its parent's: this only lets go of it.
  void start() {
    ring_.reset();
    memory_.resize(depth_ * limits_.most_bytes);
    try {
      ring_.emplace(depth_, file_.descriptor(), memory_.span());
    } catch (const std::system_error& error) {
      throw IoError(file_.mapping().path(),
                    "cannot be read by io_uring, which this system does not allow; use another "
                    "reader",
                    error.code().value());
    }
    owner_ = getpid();
    free_.clear();
    for (std::uint32_t slot = depth_; slot > 0; --slot) free_.push_back(slot - 1);
  }

  std::byte* memory_of(std::uint32_t slot) { return memory_.data() + slot * limits_.most_bytes; }

  void queue(const ReadRequest& request) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = request;
    ring_->queue_read(request.offset, memory_of(slot), static_cast<std::uint32_t>(request.bytes),
                      slot);
  }

  void finish(std::uint32_t slot, std::int32_t result, std::span<const RowRead> reads) {
    const ReadRequest& request = slots_[slot];
    const bool is_error = result < 0 && result != -EAGAIN && result != -EINTR;
    if (is_error) throw IoError(file_.mapping().path(), "cannot read", -result);
    // Less than was asked for is rare, so the whole of it is asked for again, and waited for.
    if (result < 0 || static_cast<std::uint64_t>(result) < request.needed)
      file_.read(request.offset, memory_of(slot), request.bytes, request.needed);
    copy_rows(request, memory_of(slot), reads, places_);
  }

  BlockFile file_;
  RowPlaces places_;
  RequestLimits limits_;
  unsigned depth_;
  Buffer<std::byte> memory_;  // a slot for each read in flight; only the kernel writes to it
  std::vector<ReadRequest> slots_;
  std::vector<std::uint32_t> free_;
  std::optional<Uring> ring_;
  pid_t owner_ = 0;
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
