#include "graphmount/system/disk/block_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "graphmount/base/error.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {
namespace {

// If the system does not say which alignment it needs, whole pages are used, which every disk can
// serve.
constexpr std::uint64_t kUnknownBlock = 4096;

#ifdef O_DIRECT
// What direct reads of this file must be aligned to, by statx; 0 if it takes none. The fields are
// newer (Linux 6.1) than many a C library, whose structure has its full size all the same.
std::uint64_t direct_block_bytes(int descriptor) {
#ifdef STATX_BASIC_STATS
  constexpr unsigned kDirectAlignment = 0x2000;  // STATX_DIOALIGN
  constexpr std::size_t kPlace = 0x98;           // stx_dio_mem_align, stx_dio_offset_align
  static_assert(sizeof(struct statx) == 256);
  struct statx status{};
  if (system_call::statx(descriptor, kDirectAlignment, status) == 0 &&
      (status.stx_mask & kDirectAlignment) != 0) {
    std::uint32_t alignment[2];
    std::memcpy(alignment, reinterpret_cast<const std::byte*>(&status) + kPlace, sizeof alignment);
    return std::max(alignment[0], alignment[1]) == 0 ? 0 : alignment[1];
  }
#else
  static_cast<void>(descriptor);
#endif
  return kUnknownBlock;
}
#endif

}  // namespace

BlockFile::BlockFile(const MappedFile& file, bool direct) : file_(&file), direct_(direct) {
  if (direct) {
    open_direct();
    return;
  }
  descriptor_ = file.open_again(O_RDONLY);
  if (!descriptor_) throw IoError(file.path(), "cannot open once more", errno);
#ifdef POSIX_FADV_RANDOM
  system_call::advise_file(descriptor(), 0, 0,
                           POSIX_FADV_RANDOM);  // no more than what is asked for
#endif
}

void BlockFile::open_direct() {
  constexpr const char* kRefused = "cannot be read past the page cache (O_DIRECT)";
#ifdef O_DIRECT
  descriptor_ = file_->open_again(O_RDONLY | O_DIRECT);
  if (!descriptor_) throw IoError(file_->path(), kRefused, errno);
  block_bytes_ = direct_block_bytes(descriptor());
  constexpr std::size_t kMostBlock = std::size_t{1} << 18;
  int code = block_bytes_ == 0 || block_bytes_ > kMostBlock ? EINVAL : 0;
  if (code == 0) {
    // Some file systems take the flag and refuse the reads.
    Buffer<std::byte> block(kMostBlock);  // large enough to begin at a page
    if (!descriptor_.read_once(0, {block.data(), block_bytes_})) code = errno;
  }
  if (code != 0) throw IoError(file_->path(), kRefused, code);
#else
  throw IoError(file_->path(), kRefused, ENOSYS);
#endif
}

void BlockFile::read(std::uint64_t offset, std::byte* out, std::uint64_t bytes,
                     std::uint64_t needed) const {
  std::uint64_t done = 0;
  while (done < needed) {
    const auto got = descriptor_.read_once(offset + done, {out + done, bytes - done});
    if (!got) throw IoError(file_->path(), "cannot read", errno);
    done += *got;
    // Less than whole blocks is the end of the file.
    if (*got == 0 || done % block_bytes_ != 0) break;
  }
  if (done >= needed) return;
  file_->require_intact();
  throw FileChangedError(file_->path(), say("byte ", offset + done,
                                            " could not be read, though the file has not shrunk; "
                                            "check the disk and mount the file again"));
}

}  // namespace graphmount
