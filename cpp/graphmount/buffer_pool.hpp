// Large buffers that come back when nobody looks at them any more, so that batches after the first
// few need no new memory. Who keeps a buffer keeps it: the pool then makes a fresh one. The pool
// may be gone when the last buffer comes back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "graphmount/buffer.hpp"

namespace graphmount {

template <PageSize kPages>
class BasicBufferPool {
  struct Shared {
    std::mutex mutex;
    std::vector<Buffer<std::byte, kPages>> free;
    std::size_t most_free = 0;
  };

 public:
  /// Keeps at most so many buffers that are not in use.
  explicit BasicBufferPool(std::size_t most_free) : shared_(std::make_shared<Shared>()) {
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
      return *this;
    }
    ~Handle() {
      if (shared_ == nullptr) return;
      const std::lock_guard lock(shared_->mutex);
      if (shared_->free.size() < shared_->most_free) shared_->free.push_back(std::move(buffer_));
    }

    std::byte* data() { return buffer_.data(); }
    const std::byte* data() const { return buffer_.data(); }
    std::size_t size() const { return buffer_.size(); }

    /// Keeps the content, perhaps at another place. Not for making it smaller.
    void grow(std::size_t bytes) { buffer_.grow(std::max(bytes, buffer_.size())); }

   private:
    friend class BasicBufferPool;
    Buffer<std::byte, kPages> buffer_;
    std::shared_ptr<Shared> shared_;
  };

  /// A buffer of this size, whose content is undefined.
  Handle take(std::size_t bytes) {
    Handle handle;
    {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->free.empty()) {
        handle.buffer_ = std::move(shared_->free.back());
        shared_->free.pop_back();
      }
    }
    // With some room, so that the next batch, a little larger, does not need a new one.
    if (handle.buffer_.bytes() < bytes) handle.buffer_.resize(bytes + bytes / 8);
    handle.buffer_.resize(bytes);
    handle.shared_ = shared_;
    return handle;
  }

 private:
  std::shared_ptr<Shared> shared_;
};

/// For random accesses.
using BufferPool = BasicBufferPool<PageSize::kLarge>;
/// For what is written and read in order.
using StreamBufferPool = BasicBufferPool<PageSize::kSmall>;

}  // namespace graphmount
