#include "graphmount/system/files/spill_file.hpp"

#include <cerrno>
#include <string>

#include "graphmount/base/error.hpp"

namespace graphmount {
namespace {

// Enough for the disk to be busy with, little enough not to fill the page cache.
constexpr std::uint64_t kWriteBackBytes = 8 << 20;

}  // namespace

SpillFile::SpillFile(const std::filesystem::path& folder) : folder_(folder) {}

void SpillFile::open_unnamed() {
  process_ = OwnProcess();
  int code = EOPNOTSUPP;
#ifdef O_TMPFILE
  // O_EXCL: it can never be given a name.
  file_ = FileDescriptor::open(folder_, O_TMPFILE | O_EXCL | O_RDWR, 0600);
  if (file_) return;
  code = errno;
#endif
  if (code == EOPNOTSUPP || code == EISDIR || code == EINVAL) {
    std::string name = (folder_ / ".graphmount-spill-XXXXXX").string();
    file_ = FileDescriptor(system_call::make_temporary(name.data()));
    if (file_) {
      system_call::unlink(name.c_str());
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
  if (!file_) open_unnamed();
  process_.require_here(folder_);
  if (!file_.write_at(offset, data)) {
    const int code = errno;
    throw IoError(folder_.string(),
                  say("cannot write ", data.size(), " bytes to a temporary file that has ", offset,
                      " already (pass tmp= for another folder)"),
                  code);
  }
  bytes_ = offset + data.size();
#ifdef SYNC_FILE_RANGE_WRITE
  if (bytes_ - on_its_way_ >= kWriteBackBytes) {
    // Only advice: where it is refused, the system writes when it sees fit.
    static_cast<void>(system_call::sync_file_range(file_.number(), on_its_way_,
                                                   bytes_ - on_its_way_, SYNC_FILE_RANGE_WRITE));
    on_its_way_ = bytes_;
  }
#endif
  return offset;
}

void SpillFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const auto got = file_.read_at(offset, out);
  if (!got) throw IoError(folder_.string(), "cannot read a temporary file", errno);
  if (*got < out.size())
    throw IoError(folder_.string(), say("a temporary file ends before byte ", offset + out.size()),
                  EIO);
}

void SpillFile::will_need([[maybe_unused]] std::uint64_t offset,
                          [[maybe_unused]] std::uint64_t bytes) const {
#ifdef POSIX_FADV_WILLNEED
  if (!file_ || bytes == 0) return;  // a length of 0 would mean all the rest
  system_call::advise_file(file_.number(), offset, bytes, POSIX_FADV_WILLNEED);
#endif
}

void SpillFile::release([[maybe_unused]] std::uint64_t offset,
                        [[maybe_unused]] std::uint64_t bytes) {
  if (!file_ || bytes == 0 || !process_.is_here()) return;
#ifdef FALLOC_FL_PUNCH_HOLE
  // A hole takes the pages with it, also those not written yet.
  if (file_.allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes)) return;
#endif
#ifdef POSIX_FADV_DONTNEED
  system_call::advise_file(file_.number(), offset, bytes, POSIX_FADV_DONTNEED);
#endif
}

}  // namespace graphmount
