// A temporary file for what does not fit into memory while a file is compiled.
//
// It never has a name that a crash could leave behind: its space is given back when the object, or
// the process, is gone. Nothing is created until the first append, so that work which fits into
// memory needs no disk at all. What is appended starts on its way to the disk soon after, rather
// than filling the page cache until the system makes the writer wait. A forked child may read what
// its parent has appended; it neither appends to it nor releases it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "graphmount/system/files/file_descriptor.hpp"
#include "graphmount/system/threads/own_process.hpp"

namespace graphmount {

class SpillFile {
 public:
  /// `folder` is where the file will be; it is first looked at by `append`.
  explicit SpillFile(const std::filesystem::path& folder);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Writes `data` behind what is there, and returns its offset. One thread at a time. After an
  /// error, such as a full disk, nothing has been appended. Throws IoError with the folder.
  std::uint64_t append(std::span<const std::byte> data);

  /// Fills `out` with what was appended at `offset`. Any number of threads. Throws IoError.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Asks the system to read a range ahead, and returns at once.
  void will_need(std::uint64_t offset, std::uint64_t bytes) const;

  /// The range will not be read again: gives its memory and, where the system can, its disk space
  /// back. What was in it is undefined from here on.
  void release(std::uint64_t offset, std::uint64_t bytes);

  /// How much has been appended, what was released included.
  std::uint64_t bytes() const { return bytes_; }

 private:
  void open_unnamed();

  std::filesystem::path folder_;
  FileDescriptor file_;
  OwnProcess process_;  // who has opened it
  std::uint64_t bytes_ = 0;
  std::uint64_t on_its_way_ = 0;  // up to here the system has been told to start writing
};

}  // namespace graphmount
