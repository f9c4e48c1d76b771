// A file that is read once, from its start to its end, in parts that threads take as they come.
//
// Not through a mapping: what is parsed must not change while it is, and a disk error is an error
// rather than a signal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "graphmount/system/files/file_descriptor.hpp"

namespace graphmount {

class SourceFile {
 public:
  /// Throws IoError if there is no such file, or it is none that can be read in parts.
  explicit SourceFile(const std::filesystem::path& path);

  /// What it was when the file was opened.
  std::uint64_t size() const { return size_; }

  /// Fills `out` with the bytes from `offset` on, which must all be within the size. May be called
  /// by several threads at once. Throws IoError if the system cannot read, FileChangedError if the
  /// file has become shorter.
  void read_at(std::uint64_t offset, std::span<char> out) const;

  /// Lets the disk begin with what will be read next.
  void expect(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::string path_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace graphmount
