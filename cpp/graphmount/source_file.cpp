#include "graphmount/source_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "graphmount/error.hpp"

namespace graphmount {

SourceFile::SourceFile(const std::filesystem::path& path) : path_(path.string()) {
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

SourceFile::~SourceFile() {
  ::close(descriptor_);
}

void SourceFile::read_at(std::uint64_t offset, std::span<char> out) const {
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError(path_, "cannot read", errno);
    if (got == 0)
      throw FileChangedError(path_, "was truncated from " + std::to_string(size_) +
                                        " bytes while it was read; write it whole "
                                        "and start again");
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void SourceFile::expect([[maybe_unused]] std::uint64_t offset,
                        [[maybe_unused]] std::uint64_t bytes) const {
#ifdef POSIX_FADV_WILLNEED
  posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                POSIX_FADV_WILLNEED);
#endif
}

}  // namespace graphmount
