// A mounted file, opened once more to be read in whole blocks: past the page cache (O_DIRECT), so
// that every byte comes from the disk and nothing is displaced from the cache, or through the page
// cache.
//
// A read that finds less than the header promised is a FileChangedError, never a short row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graphmount/system/files/file_descriptor.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount {

class BlockFile {
 public:
  /// `file` must live as long. Throws IoError where it cannot be opened, or not past the page
  /// cache if that was asked for.
  BlockFile(const MappedFile& file, bool direct);

  const MappedFile& mapping() const { return *file_; }
  int descriptor() const { return descriptor_.number(); }
  bool is_direct() const { return direct_; }
  /// Offsets and sizes of reads are multiples of this; memory that begins at a page will do.
  std::uint64_t block_bytes() const { return block_bytes_; }

  /// Reads `bytes` at `offset`, or as many as the file has, and waits for them. Throws IoError, or
  /// FileChangedError if there are fewer than `needed`.
  void read(std::uint64_t offset, std::byte* out, std::uint64_t bytes, std::uint64_t needed) const;

 private:
  void open_direct();

  const MappedFile* file_;
  FileDescriptor descriptor_;
  bool direct_;
  std::uint64_t block_bytes_ = 1;
};

}  // namespace graphmount
