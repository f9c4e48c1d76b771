#include "graphmount/system/files/regular_file.hpp"

#include <cerrno>

#include "graphmount/base/error.hpp"

namespace graphmount {

RegularFile open_regular(const std::filesystem::path& path, const std::string& purpose) {
  struct stat status{};
  // Checked before opening, because some devices act on being opened. And checked after it, because
  // the name may lead elsewhere by then, for instance to a pipe, which O_NONBLOCK opens without a
  // writer.
  if (system_call::stat(path.c_str(), status) != 0)
    throw IoError(path.string(), "cannot open", errno);
  require_regular(status.st_mode, path, purpose);
  return take_regular(FileDescriptor::open(path, O_RDONLY | O_NONBLOCK), path, purpose);
}

RegularFile take_regular(FileDescriptor descriptor, const std::filesystem::path& path,
                         const std::string& purpose) {
  if (!descriptor) throw IoError(path.string(), "cannot open", errno);
  struct stat status{};
  if (system_call::fstat(descriptor.number(), status) != 0)
    throw IoError(path.string(), "cannot stat", errno);
  require_regular(status.st_mode, path, purpose);
  return {std::move(descriptor), static_cast<std::uint64_t>(status.st_size)};
}

void require_regular(mode_t mode, const std::filesystem::path& path, const std::string& purpose) {
  if (S_ISREG(mode)) return;
  if (S_ISDIR(mode)) throw IoError(path.string(), "cannot " + purpose, EISDIR);
  throw IoError(path.string(),
                "cannot " + purpose + " a special file (this is " + kind_of_file(mode) +
                    ", not a regular file)",
                EINVAL);
}

std::string kind_of_file(mode_t mode) {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a device or terminal";
  if (S_ISBLK(mode)) return "a disk";
  return "of an unknown kind";
}

}  // namespace graphmount
