// Memory that is filled once and can never change again, which other processes may map as well.
//
// It has no name: it is there as long as a process has it open or mapped, and nothing is left of it
// when the last one is gone, however it ended. The system itself refuses to write to it, or to make
// it longer or shorter. So a process may read what another one has sealed without a copy, and needs
// to check it only once. Linux only: elsewhere it cannot be made.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "graphmount/system/files/file_descriptor.hpp"

namespace graphmount {

class SealedMemory {
 public:
  using Fill = std::function<void(std::span<std::byte>)>;

  /// Memory that `fill` writes, before it is sealed. Throws IoError if the system has none of this
  /// kind, and what `fill` throws.
  static std::shared_ptr<const SealedMemory> make(std::size_t bytes, const Fill& fill);

  /// What another process has sealed, by a descriptor that stays the caller's. Throws
  /// std::invalid_argument unless it is sealed, is no file, and has just so many bytes; and
  /// IoError.
  static std::shared_ptr<const SealedMemory> of(int descriptor, std::size_t bytes);

  ~SealedMemory();
  SealedMemory(const SealedMemory&) = delete;
  SealedMemory& operator=(const SealedMemory&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// To hand to another process.
  int descriptor() const { return descriptor_.number(); }

 private:
  SealedMemory(FileDescriptor descriptor, std::size_t size);

  FileDescriptor descriptor_;
  const std::byte* data_ = nullptr;
  std::size_t size_;
};

}  // namespace graphmount
