// Pinned memory, which a GPU can read by itself: the system must not move its pages.
//
// The core does not link to any driver. Callers that have one pass the two functions that lock and
// unlock pages; without them nothing is pinned. Neither may be called with a lock held: they may
// run Python.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// As cudaHostRegister and cudaHostUnregister have it: 0 means success.
struct HostPinning {
  using Pin = int (*)(void* memory, std::size_t bytes);
  using Unpin = int (*)(void* memory);
  Pin pin;
  Unpin unpin;
};

/// The functions of this process, or nullptr. They must stay valid until others are set.
inline std::atomic<const HostPinning*>& host_pinning() {
  static std::atomic<const HostPinning*> pinning = nullptr;
  return pinning;
}

/// Bytes that are pinned if that was asked for and can be.
template <PageSize kPages>
class PinnableBuffer {
 public:
  explicit PinnableBuffer(bool is_wanted = false) : is_wanted_(is_wanted) {}
  PinnableBuffer(PinnableBuffer&& other) noexcept { swap(other); }
  PinnableBuffer& operator=(PinnableBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnableBuffer() { unpin(); }

  /// Afterwards the content is undefined.
  void resize(std::size_t bytes) {
    if (bytes > buffer_.bytes()) unpin();
    buffer_.resize(bytes);
    pin();
  }
  /// Keeps the content, perhaps at another place.
  void grow(std::size_t bytes) {
    if (bytes > buffer_.bytes()) unpin();
    buffer_.grow(bytes);
    pin();
  }

  std::byte* data() { return buffer_.data(); }
  const std::byte* data() const { return buffer_.data(); }
  std::size_t size() const { return buffer_.size(); }
  std::size_t bytes() const { return buffer_.bytes(); }

 private:
  void swap(PinnableBuffer& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(is_wanted_, other.is_wanted_);
    std::swap(is_pinned_, other.is_pinned_);
  }

  void pin() {
    const HostPinning* functions = host_pinning().load();
    if (!is_wanted_ || is_pinned_ || buffer_.empty() || functions == nullptr) return;
    is_pinned_ = functions->pin(buffer_.data(), buffer_.bytes()) == 0;
  }

  void unpin() noexcept {
    const HostPinning* functions = host_pinning().load();
    if (std::exchange(is_pinned_, false) && functions != nullptr) functions->unpin(buffer_.data());
  }

  Buffer<std::byte, kPages> buffer_;
  bool is_wanted_ = false, is_pinned_ = false;
};

}  // namespace graphmount
