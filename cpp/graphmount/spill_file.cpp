#include "graphmount/spill_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "graphmount/error.hpp"

namespace graphmount {
namespace {

// Enough for the disk to be busy with, little enough not to fill the page cache.
constexpr std::uint64_t kWriteBackBytes = 8 << 20;

}  // namespace

SpillFile::SpillFile(const std::filesystem::path& folder) : folder_(folder) {}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void SpillFile::open_unnamed() {
  int code = EOPNOTSUPP;
#ifdef O_TMPFILE
  // O_EXCL: it can never be given a name.
  descriptor_ = open(folder_.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  code = errno;
#endif
  if (code == EOPNOTSUPP || code == EISDIR || code == EINVAL) {
    std::string name = (folder_ / ".graphmount-spill-XXXXXX").string();
    descriptor_ = mkstemp(name.data());
    if (descriptor_ >= 0) {
      unlink(name.c_str());
      fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
      return;
    }
    code = errno;
  }
  throw IoError(folder_.string(), "cannot make a temporary file (pass tmp= for another folder)",
                code);
}

std::uint64_t SpillFile::append(std::span<const std::byte> data) {
  const std::uint64_t offset = bytes_;
  if (data.empty()) return offset;
  if (descriptor_ < 0) open_unnamed();
  std::uint64_t written = 0;
  while (written < data.size()) {
    const ssize_t count = pwrite(descriptor_, data.data() + written, data.size() - written,
                                 static_cast<off_t>(offset + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int code = count < 0 ? errno : EIO;
      throw IoError(folder_.string(),
                    "cannot write " + std::to_string(data.size()) +
                        " bytes to a temporary file that has " + std::to_string(offset) +
                        " already (pass tmp= for another folder)",
                    code);
    }
    written += static_cast<std::uint64_t>(count);
  }
  bytes_ = offset + written;
#ifdef SYNC_FILE_RANGE_WRITE
  if (bytes_ - on_its_way_ >= kWriteBackBytes) {
    // Only advice: where it is refused, the system writes when it sees fit.
    static_cast<void>(sync_file_range(descriptor_, static_cast<off_t>(on_its_way_),
                                      static_cast<off_t>(bytes_ - on_its_way_),
                                      SYNC_FILE_RANGE_WRITE));
    on_its_way_ = bytes_;
  }
#endif
  return offset;
}

void SpillFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError(folder_.string(), "cannot read a temporary file", errno);
    if (count == 0)
      throw IoError(folder_.string(),
                    "a temporary file ends before byte " + std::to_string(offset + out.size()),
                    EIO);
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void SpillFile::will_need([[maybe_unused]] std::uint64_t offset,
                          [[maybe_unused]] std::uint64_t bytes) const {
#ifdef POSIX_FADV_WILLNEED
  if (descriptor_ < 0 || bytes == 0) return;  // a length of 0 would mean all the rest
  static_cast<void>(posix_fadvise(descriptor_, static_cast<off_t>(offset),
                                  static_cast<off_t>(bytes), POSIX_FADV_WILLNEED));
#endif
}

void SpillFile::release([[maybe_unused]] std::uint64_t offset,
                        [[maybe_unused]] std::uint64_t bytes) {
  if (descriptor_ < 0 || bytes == 0) return;
#ifdef FALLOC_FL_PUNCH_HOLE
  // A hole takes the pages with it, also those not written yet.
  if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes)) == 0)
    return;
#endif
#ifdef POSIX_FADV_DONTNEED
  static_cast<void>(posix_fadvise(descriptor_, static_cast<off_t>(offset),
                                  static_cast<off_t>(bytes), POSIX_FADV_DONTNEED));
#endif
}

}  // namespace graphmount
