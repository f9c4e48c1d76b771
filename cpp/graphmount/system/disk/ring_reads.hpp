// Many reads of one file in flight at a time, through one io_uring and memory of its own, which has
// a slot for each of them.
//
// If something goes wrong, reads in flight are waited for before the error is thrown, because they
// write to the memory. If the system no longer lets us wait, the memory is never freed. Works in a
// child of fork, with a ring of its own. Linux only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graphmount/system/disk/block_file.hpp"
#include "graphmount/system/disk/uring.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// A read of whole blocks, of which so many bytes must be there.
struct RingRead {
  std::uint64_t offset, bytes, needed;
};

class RingReads {
 public:
  /// For reads of up to `most_bytes`. `file` must live as long. Throws IoError if the system does
  /// not allow a ring.
  RingReads(const BlockFile& file, unsigned depth, std::uint64_t most_bytes);

  /// The next read, which will be in this slot; false if there are no more.
  using Next = std::function<bool(std::size_t slot, RingRead& read)>;
  /// What to do with the bytes of a read. They come in no order.
  using Done = std::function<void(std::size_t slot, const RingRead& read, const std::byte* bytes)>;

  /// Has all reads done. Completions are waited for in numbers, `wait_for`: each wait is a system
  /// call and a switch. Throws what `next` and `done` throw, IoError, and FileChangedError.
  void run(unsigned wait_for, const Next& next, const Done& done);

  std::size_t bytes() const { return memory_.bytes(); }

 private:
  void start();
  std::byte* memory_of(std::size_t slot) { return memory_.data() + slot * most_bytes_; }
  void require_read(std::size_t slot, std::int32_t result);

  const BlockFile* file_;
  std::uint64_t most_bytes_;
  Buffer<std::byte> memory_;  // only the kernel writes to it
  std::vector<RingRead> reads_;
  std::vector<std::uint32_t> free_;  // slots
  std::optional<Uring> ring_;
  pid_t owner_ = 0;
};

}  // namespace graphmount
