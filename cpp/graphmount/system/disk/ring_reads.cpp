#include "graphmount/system/disk/ring_reads.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>

#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"

namespace graphmount {

RingReads::RingReads(const BlockFile& file, unsigned depth, std::uint64_t most_bytes)
    : file_(&file), most_bytes_(most_bytes), reads_(depth) {
  free_.reserve(depth);
  start();
}

// This also runs in a child of fork, where the ring belongs to the parent; there it only closes the
// copy.
void RingReads::start() {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 18;  // so that it begins at a page
  ring_.reset();
  memory_.resize(std::max(kLeastBytes, reads_.size() * most_bytes_));
  try {
    ring_.emplace(static_cast<unsigned>(reads_.size()), file_->descriptor(), memory_.span());
  } catch (const std::system_error& error) {
    throw IoError(file_->mapping().path(),
                  "cannot be read by io_uring, which this system does not allow; use another "
                  "reader",
                  error.code().value());
  }
  owner_ = getpid();
  free_.clear();
  for (auto slot = static_cast<std::uint32_t>(reads_.size()); slot > 0; --slot)
    free_.push_back(slot - 1);
}

void RingReads::run(unsigned wait_for, const Next& next, const Done& done) {
  if (!ring_ || owner_ != getpid()) start();
  std::exception_ptr failure;
  bool has_more = true;
  const auto guarded = [&](const auto& work) {
    try {
      if (!failure) work();
    } catch (...) {
      failure = std::current_exception();
      has_more = false;
    }
  };
  const auto queue_reads = [&] {
    check_interrupt();
    while (has_more && !free_.empty()) {
      const std::uint32_t slot = free_.back();
      RingRead& read = reads_[slot];
      has_more = next(slot, read);
      if (!has_more) return;
      free_.pop_back();
      ring_->queue_read(read.offset, memory_of(slot), static_cast<std::uint32_t>(read.bytes), slot);
    }
  };
  try {
    for (;;) {
      guarded(queue_reads);
      const auto in_flight = static_cast<unsigned>(reads_.size() - free_.size());
      if (in_flight == 0) break;
      ring_->submit_and_wait(std::min(wait_for, in_flight));
      for (Uring::Completion completion{}; ring_->take(completion);) {
        const auto slot = static_cast<std::uint32_t>(completion.tag);
        free_.push_back(slot);
        guarded([&] {
          require_read(slot, completion.result);
          done(slot, reads_[slot], memory_of(slot));
        });
      }
    }
  } catch (const std::system_error& error) {
    // Reads may still be in flight and cannot be waited for, so their memory is never freed.
    ring_.reset();
    memory_.abandon();
    if (failure) std::rethrow_exception(failure);  // what went wrong first
    throw IoError(file_->mapping().path(),
                  "cannot be read by io_uring, which this system has stopped; use another reader",
                  error.code().value());
  }
  if (failure) std::rethrow_exception(failure);
}

void RingReads::require_read(std::size_t slot, std::int32_t result) {
  const RingRead& read = reads_[slot];
  const bool is_error = result < 0 && result != -EAGAIN && result != -EINTR;
  if (is_error) throw IoError(file_->mapping().path(), "cannot read", -result);
  // Less than was asked for is rare, so the whole of it is asked for again, and waited for.
  if (result < 0 || static_cast<std::uint64_t>(result) < read.needed)
    file_->read(read.offset, memory_of(slot), read.bytes, read.needed);
}

}  // namespace graphmount
