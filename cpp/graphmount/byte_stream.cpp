#include "graphmount/byte_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "graphmount/error.hpp"
#include "graphmount/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::int64_t kPartBytes = 1 << 18;

}  // namespace

FileStream::FileStream(const std::filesystem::path& path) : path_(path.string()) {
  // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw IoError(path_, "cannot open", errno);
  struct stat status{};
  int problem = fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (problem == 0 && S_ISDIR(status.st_mode)) problem = EISDIR;
  if (problem == 0 && !S_ISREG(status.st_mode)) problem = EINVAL;
  if (problem != 0) {
    ::close(descriptor_);
    throw IoError(path_, problem == EINVAL ? "cannot read a special file" : "cannot read", problem);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
#ifdef POSIX_FADV_SEQUENTIAL
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

FileStream::~FileStream() {
  ::close(descriptor_);
}

std::size_t FileStream::read(std::span<char> out) {
  const auto wanted =
      static_cast<std::size_t>(std::min(static_cast<std::uint64_t>(out.size()), size_ - offset_));
  parallel_for(
      static_cast<std::int64_t>(wanted), kPartBytes, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end;) {
          const auto place = static_cast<off_t>(offset_) + static_cast<off_t>(at);
          const ssize_t got =
              pread(descriptor_, out.data() + at, static_cast<std::size_t>(end - at), place);
          if (got < 0 && errno == EINTR) continue;
          if (got < 0) throw IoError(path_, "cannot read", errno);
          if (got == 0)
            throw FileChangedError(path_, "was truncated from " + std::to_string(size_) +
                                              " bytes while it was read; write it whole "
                                              "and start again");
          at += got;
        }
      });
  offset_ += wanted;
#ifdef POSIX_FADV_WILLNEED
  // The disk can fetch what comes next while this is parsed.
  posix_fadvise(descriptor_, static_cast<off_t>(offset_), static_cast<off_t>(wanted),
                POSIX_FADV_WILLNEED);
#endif
  return wanted;
}

}  // namespace graphmount
