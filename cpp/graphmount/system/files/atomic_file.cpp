#include "graphmount/system/files/atomic_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <random>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/system/files/regular_file.hpp"

namespace graphmount {
namespace {

// Random, so that neither another machine writing to the same folder nor what a killed process left
// behind is in the way (pids repeat, in containers above all); short, so that any name has room.
std::string temporary_name() {
  std::random_device random;
  return say(".graphmount-", random(), "-", random(), ".tmp");
}

// What is reserved ahead at a time, at most.
constexpr std::uint64_t kMostAhead = std::uint64_t{16} << 20;

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path, std::uint64_t bytes)
    : path_(path), temporary_(folder_of(path) / temporary_name()) {
  struct stat status{};
  // If there is nothing, fine; whatever else is wrong, opening the temporary file says it better.
  if (system_call::stat(path_.c_str(), status) == 0)
    require_regular(status.st_mode, path_, "replace");
  open_temporary();
  try {
    reserve(bytes);
  } catch (...) {
    if (has_name_) system_call::unlink(temporary_.c_str());
    throw;
  }
}

AtomicFile::~AtomicFile() {
  if (has_name_ && process_.is_here()) system_call::unlink(temporary_.c_str());
}

void AtomicFile::open_temporary() {
#ifdef O_TMPFILE
  // Without a name until commit, which gives it one through /proc.
  if (system_call::access("/proc/self/fd", X_OK) == 0) {
    file_ = FileDescriptor::open(folder_of(path_), O_TMPFILE | O_RDWR, 0666);
    if (file_) return;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
      throw IoError(path_.string(), "cannot write", errno);
  }
#endif
  file_ = FileDescriptor::open(temporary_, O_CREAT | O_EXCL | O_RDWR, 0666);
  if (!file_) throw IoError(path_.string(), "cannot write", errno);
  has_name_ = true;
}

void AtomicFile::reserve(std::uint64_t bytes) {
  process_.require_here(path_);
  reserved_ = std::max(reserved_, bytes);
#ifdef __linux__
  if (file_.allocate(0, 0, bytes)) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS)
    throw IoError(path_.string(), say("cannot reserve ", bytes, " bytes"), errno);
#endif
  if (!file_.resize(bytes))
    throw IoError(path_.string(), say("cannot reserve ", bytes, " bytes"), errno);
}

void AtomicFile::reserve_ahead([[maybe_unused]] std::uint64_t end) {
#ifdef FALLOC_FL_KEEP_SIZE
  if (end <= reserved_) return;
  process_.require_here(path_);
  const std::uint64_t begin = std::exchange(reserved_, end + std::min(end, kMostAhead));
  has_spare_ = true;
  if (file_.allocate(FALLOC_FL_KEEP_SIZE, begin, reserved_ - begin)) return;
  // Only an offer: if there is no room for what may come, writing goes on without. Some file
  // systems keep what they found before they ran out of it, which others may need.
  reserved_ = UINT64_MAX;
  give_back();
#endif
}

void AtomicFile::give_back() {
  if (!std::exchange(has_spare_, false)) return;
  const std::unique_lock lock(size_mutex_);
  struct stat status{};
  // Its own size: only what is reserved behind it goes.
  if (system_call::fstat(file_.number(), status) != 0 ||
      !file_.resize(static_cast<std::uint64_t>(status.st_size)))
    throw IoError(path_.string(), "cannot give back reserved space", errno);
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> data) const {
  process_.require_here(path_);
  const std::shared_lock lock(size_mutex_);
  if (!file_.write_at(offset, data)) throw IoError(path_.string(), "cannot write", errno);
}

void AtomicFile::start_write_back([[maybe_unused]] std::uint64_t offset,
                                  [[maybe_unused]] std::uint64_t bytes) const {
#ifdef SYNC_FILE_RANGE_WRITE
  // Only advice: where it is refused, the system writes when it sees fit, at the latest in commit.
  static_cast<void>(
      system_call::sync_file_range(file_.number(), offset, bytes, SYNC_FILE_RANGE_WRITE));
#endif
}

void AtomicFile::commit() {
  process_.require_here(path_);
  // Whatever needs memory comes before the rename: once the file has its name, nothing may fail.
  const std::filesystem::path folder_path = folder_of(path_);
  give_back();
  if (!file_.sync()) throw IoError(path_.string(), "cannot sync", errno);
  if (!has_name_) {
    const std::string link = say("/proc/self/fd/", file_.number());
    if (system_call::link_followed(link.c_str(), temporary_.c_str()) != 0)
      throw IoError(path_.string(), "cannot name the finished file", errno);
    has_name_ = true;
  }
  if (system_call::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw IoError(path_.string(), "cannot rename the finished file", errno);
  has_name_ = false;
  file_.close();
  // The rename itself must survive a power cut too. The data is safe already, so a file system
  // that cannot sync folders is no reason to fail.
  const auto folder = FileDescriptor::open(folder_path, O_RDONLY | O_DIRECTORY);
  if (folder) static_cast<void>(folder.sync());
}

}  // namespace graphmount
