#include "graphmount/source_file.hpp"

#include <cerrno>

#include "graphmount/error.hpp"

namespace graphmount {

SourceFile::SourceFile(const std::filesystem::path& path) : path_(path.string()) {
  // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
  file_ = FileDescriptor::open(path, O_RDONLY | O_NONBLOCK);
  if (!file_) throw IoError(path_, "cannot open", errno);
  struct stat status{};
  if (system_call::fstat(file_.number(), status) != 0) throw IoError(path_, "cannot read", errno);
  if (S_ISDIR(status.st_mode)) throw IoError(path_, "cannot read", EISDIR);
  if (!S_ISREG(status.st_mode)) throw IoError(path_, "cannot read a special file", EINVAL);
  size_ = static_cast<std::uint64_t>(status.st_size);
#ifdef POSIX_FADV_SEQUENTIAL
  system_call::advise_file(file_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

void SourceFile::read_at(std::uint64_t offset, std::span<char> out) const {
  const auto got = file_.read_at(offset, std::as_writable_bytes(out));
  if (!got) throw IoError(path_, "cannot read", errno);
  if (*got < out.size())
    throw FileChangedError(path_, "was truncated from " + std::to_string(size_) +
                                      " bytes while it was read; write it whole "
                                      "and start again");
}

void SourceFile::expect([[maybe_unused]] std::uint64_t offset,
                        [[maybe_unused]] std::uint64_t bytes) const {
#ifdef POSIX_FADV_WILLNEED
  system_call::advise_file(file_.number(), offset, bytes, POSIX_FADV_WILLNEED);
#endif
}

}  // namespace graphmount
