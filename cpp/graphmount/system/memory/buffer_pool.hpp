// Large buffers that return to the pool when they are not used any more, so that batches after the
// first few need no new memory. If a caller keeps a buffer, the pool makes a new one. The pool may
// be gone when the last buffer returns. Safe with threads and after fork.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "graphmount/system/memory/host_pinning.hpp"
#include "graphmount/system/threads/fork_safe_mutex.hpp"

namespace graphmount {

template <PageSize kPages>
class BasicBufferPool {
  struct Shared {
    std::vector<PinnableBuffer<kPages>> free;
    std::size_t most_free = 0;
    std::size_t num_taken = 0, taken_bytes = 0;
  };

 public:
  /// Keeps at most so many buffers that are not in use. Pins them on request.
  explicit BasicBufferPool(std::size_t most_free, bool pins = false)
      : shared_(std::make_shared<Shared>()), pins_(pins) {
    shared_->most_free = most_free;
    shared_->free.reserve(most_free);
  }

  class Handle {
   public:
    Handle() = default;
    Handle(Handle&&) noexcept = default;
    Handle& operator=(Handle&& other) noexcept {
      std::swap(buffer_, other.buffer_);
      std::swap(shared_, other.shared_);
      std::swap(taken_bytes_, other.taken_bytes_);
      return *this;
    }
    ~Handle() {
      if (shared_ == nullptr) return;
      const std::lock_guard lock(fork_safe_mutex<BasicBufferPool>());
      --shared_->num_taken;
      shared_->taken_bytes -= taken_bytes_;
      if (shared_->free.size() < shared_->most_free) shared_->free.push_back(std::move(buffer_));
      // One too many is freed with the handle, after the lock.
    }

    std::byte* data() { return buffer_.data(); }
    const std::byte* data() const { return buffer_.data(); }
    std::size_t size() const { return buffer_.size(); }

    /// Keeps the content, perhaps at another place. Not for making it smaller.
    void grow(std::size_t bytes) { buffer_.grow(std::max(bytes, buffer_.size())); }

   private:
    friend class BasicBufferPool;
    PinnableBuffer<kPages> buffer_;
    std::size_t taken_bytes_ = 0;
    std::shared_ptr<Shared> shared_;
  };

  /// A buffer of this size, whose content is undefined.
  Handle take(std::size_t bytes) {
    Handle handle;
    handle.buffer_ = PinnableBuffer<kPages>(pins_);
    {
      const std::lock_guard lock(fork_safe_mutex<BasicBufferPool>());
      if (!shared_->free.empty()) {
        std::swap(handle.buffer_, shared_->free.back());
        shared_->free.pop_back();
      }
    }
    // With some room, so that the next batch, a little larger, does not need a new one.
    if (handle.buffer_.bytes() < bytes) handle.buffer_.resize(bytes + bytes / 8);
    handle.buffer_.resize(bytes);
    const std::lock_guard lock(fork_safe_mutex<BasicBufferPool>());
    handle.shared_ = shared_;
    ++shared_->num_taken;
    shared_->taken_bytes += bytes;
    handle.taken_bytes_ = bytes;
    return handle;
  }

  /// Buffers that are in use, and their bytes.
  std::pair<std::size_t, std::size_t> taken() const {
    const std::lock_guard lock(fork_safe_mutex<BasicBufferPool>());
    return {shared_->num_taken, shared_->taken_bytes};
  }

 private:
  std::shared_ptr<Shared> shared_;
  bool pins_;
};

/// For random accesses.
using BufferPool = BasicBufferPool<PageSize::kLarge>;
/// For what is written and read in order.
using StreamBufferPool = BasicBufferPool<PageSize::kSmallAtOnce>;

}  // namespace graphmount
