#include "graphmount/system/files/source_file.hpp"

#include <cerrno>

#include "graphmount/base/error.hpp"
#include "graphmount/system/files/regular_file.hpp"

namespace graphmount {

SourceFile::SourceFile(const std::filesystem::path& path) : path_(path.string()) {
  RegularFile opened = open_regular(path, "read");
  file_ = std::move(opened.descriptor);
  size_ = opened.size;
#ifdef POSIX_FADV_SEQUENTIAL
  system_call::advise_file(file_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

void SourceFile::read_at(std::uint64_t offset, std::span<char> out) const {
  const auto got = file_.read_at(offset, std::as_writable_bytes(out));
  if (!got) throw IoError(path_, "cannot read", errno);
  if (*got < out.size())
    throw FileChangedError(path_, say("was truncated from ", size_,
                                      " bytes while it was read; write it whole "
                                      "and start again"));
}

void SourceFile::expect([[maybe_unused]] std::uint64_t offset,
                        [[maybe_unused]] std::uint64_t bytes) const {
#ifdef POSIX_FADV_WILLNEED
  system_call::advise_file(file_.number(), offset, bytes, POSIX_FADV_WILLNEED);
#endif
}

}  // namespace graphmount
