// An array that is not cleared when it is made, and whose memory goes back to the system when it is
// freed. So a compile really uses only the memory that it accounts for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace graphmount {

/// Large pages make random accesses faster. But the system has to find and clear two megabytes at
/// the first touch of each, which is not worth it for memory that is written and read in order. If
/// nearly all of it will be written soon, small ones are found at once when it is allocated, which
/// is cheaper than one at a time.
enum class PageSize { kLarge, kSmall, kSmallAtOnce };

/// Memory straight from the system, in large pages where it has them. Throws OutOfMemory.
void* allocate_pages(std::size_t bytes, PageSize pages = PageSize::kLarge);
/// The same memory with another size, perhaps at another place.
void* resize_pages(void* memory, std::size_t bytes, std::size_t new_bytes,
                   PageSize pages = PageSize::kLarge);
void free_pages(void* memory, std::size_t bytes) noexcept;

template <class Item, PageSize kPages = PageSize::kLarge>
class Buffer {
  static_assert(std::is_trivially_copyable_v<Item> && std::is_trivially_destructible_v<Item>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  /// Afterwards the content is undefined.
  void resize(std::size_t size) {
    if (size > capacity_) {
      release();
      data_ = static_cast<Item*>(allocate_pages(bytes_of(size), kPages));
      capacity_ = size;
    }
    size_ = size;
  }
  /// Keeps the content: for taking away from the end.
  void shrink(std::size_t size) { size_ = size; }
  /// Keeps the content, with room for more to come; the system moves pages, not bytes.
  void grow(std::size_t size) {
    if (size > capacity_) {
      const std::size_t capacity = std::max(size, capacity_ + capacity_ / 4 + 64);
      data_ = static_cast<Item*>(data_ == nullptr ? allocate_pages(bytes_of(capacity), kPages)
                                                  : resize_pages(data_, capacity_ * sizeof(Item),
                                                                 bytes_of(capacity), kPages));
      capacity_ = capacity;
    }
    size_ = size;
  }
  void release() noexcept {
    if (data_ != nullptr) free_pages(data_, capacity_ * sizeof(Item));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  /// Never frees the memory: the kernel may still write there.
  void abandon() noexcept {
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return capacity_ * sizeof(Item); }
  bool empty() const { return size_ == 0; }
  Item* data() { return data_; }
  const Item* data() const { return data_; }
  Item& operator[](std::size_t i) { return data_[i]; }
  const Item& operator[](std::size_t i) const { return data_[i]; }
  std::span<Item> span() { return {data_, size_}; }
  std::span<const Item> span() const { return {data_, size_}; }

 private:
  /// More than there can be, rather than too little, where the product does not fit.
  static std::size_t bytes_of(std::size_t count) {
    return count > SIZE_MAX / sizeof(Item) ? SIZE_MAX : count * sizeof(Item);
  }

  Item* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace graphmount
