// One io_uring of Linux: reads of one file into one piece of memory, many in flight at a time, by
// the system calls themselves.
//
// The file and the memory are registered, which saves looking them up for each read. A ring belongs
// to the process that made it: a child of fork must not use it, as its parent would see the
// completions. Linux only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graphmount/system/files/file_descriptor.hpp"

namespace graphmount {

class Uring {
 public:
  struct Completion {
    std::uint64_t tag;
    std::int32_t result;  // bytes read, or a negative errno
  };

  /// Throws std::system_error if the system does not allow it, or is older than Linux 5.6.
  Uring(unsigned depth, int descriptor, std::span<std::byte> memory);
  ~Uring();
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  /// Queues a read into the memory; at most `depth` reads may be queued or in flight.
  void queue_read(std::uint64_t offset, std::byte* out, std::uint32_t bytes, std::uint64_t tag);

  /// Hands what is queued to the system, and waits until at least `least` reads have completed.
  /// Throws std::system_error.
  void submit_and_wait(unsigned least);

  /// The next completion; false if there are no more for now.
  bool take(Completion& completion);

 private:
  struct Entry;  // of the submission queue
  struct Params;

  void map_queues(const Params& params);
  void register_file(int descriptor);
  void register_memory(std::span<std::byte> memory);
  void release() noexcept;

  FileDescriptor ring_;
  std::byte* queues_ = nullptr;
  std::size_t queues_bytes_ = 0;
  Entry* entries_ = nullptr;
  std::size_t entries_bytes_ = 0;
  std::uint32_t *submit_tail_ = nullptr, *complete_head_ = nullptr, *complete_tail_ = nullptr;
  std::uint32_t submit_mask_ = 0, complete_mask_ = 0;
  std::byte* completions_ = nullptr;
  std::uint32_t num_queued_ = 0;
  unsigned num_refusals_ = 0;  // in a row
  bool memory_registered_ = false;
};

}  // namespace graphmount
