// Bytes in a row, from a file or from whatever unpacks one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace graphmount {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `out` with the next bytes. Returns how many; fewer than asked for only at the end.
  virtual std::size_t read(std::span<char> out) = 0;
};

/// A file, read from its start to the end it had when it was opened, by several threads at once.
///
/// Not through a mapping: a file that is read once and in order is copied faster than its pages are
/// mapped, and a disk error is an error rather than a signal.
class FileStream : public ByteStream {
 public:
  /// Throws IoError if there is no such file, or it is none that can be read in parts.
  explicit FileStream(const std::filesystem::path& path);
  ~FileStream() override;
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  std::uint64_t size() const { return size_; }

  /// Throws IoError if the system cannot read, FileChangedError if the file has become shorter.
  std::size_t read(std::span<char> out) override;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace graphmount
