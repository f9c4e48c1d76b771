// An open file that is closed when its owner is gone: the one owner of a raw descriptor.
//
// A call that a signal interrupts is repeated, and a transfer that moves less than was asked for is
// continued. So callers get all bytes, the end of the file, or an error. Errors are reported by
// errno, as in the system's own calls: the caller knows the path and the purpose. Ctrl-C can end a
// long transfer (`check_interrupt`). POSIX only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "graphmount/system/files/system_calls.hpp"

namespace graphmount {

class FileDescriptor {
 public:
  /// None.
  FileDescriptor() = default;
  /// Takes over an open one; a negative number is none.
  explicit FileDescriptor(int number) : number_(number) {}
  /// open(2), closed in programs that this one starts. None, and errno, where the system refuses.
  static FileDescriptor open(const std::filesystem::path& path, int flags, mode_t mode = 0);

  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int number() const { return number_; }
  /// Hands it over: the caller closes it.
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }
  /// Whatever the system says: the descriptor is gone then, and what matters has been synced.
  void close() noexcept;

  /// Reads from `offset` on until `out` is full or the file ends; how many bytes that were.
  /// Nothing, and errno, where the system cannot.
  std::optional<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// As much of it as the system gives at once, for reads that have to begin at a block.
  std::optional<std::size_t> read_once(std::uint64_t offset, std::span<std::byte> out) const;
  /// Writes all of `data`. False, and errno, where the system cannot.
  bool write_at(std::uint64_t offset, std::span<const std::byte> data) const;
  /// fsync, ftruncate, fallocate. False, and errno, where the system cannot.
  bool sync() const;
  bool resize(std::uint64_t bytes) const;
#ifdef __linux__
  bool allocate(int mode, std::uint64_t offset, std::uint64_t bytes) const;
#endif

 private:
  int number_ = -1;
};

}  // namespace graphmount
