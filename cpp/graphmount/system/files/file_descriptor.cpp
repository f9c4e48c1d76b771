#include "graphmount/system/files/file_descriptor.hpp"

#include <algorithm>
#include <cerrno>

#include "graphmount/base/interrupt.hpp"

namespace graphmount {
namespace {

// What is written at a time. For larger pieces Linux looks for larger stretches of memory to keep
// them in, and may spend several times as long on that as on copying.
constexpr std::size_t kWriteBytes = std::size_t{256} << 10;
// What is read at a time: little enough for Ctrl-C to be noticed soon, also with a slow disk.
constexpr std::size_t kReadBytes = std::size_t{16} << 20;

// Calls again while a signal interrupts.
template <class Call>
auto uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

FileDescriptor FileDescriptor::open(const std::filesystem::path& path, int flags, mode_t mode) {
  return FileDescriptor(
      uninterrupted([&] { return system_call::open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

void FileDescriptor::close() noexcept {
  const int number = std::exchange(number_, -1);
  if (number < 0) return;
  const int saved_errno = errno;  // of what failed before, which is what the user should see
  system_call::close(number);     // never twice, not even after EINTR: another file may have it
  errno = saved_errno;
}

std::optional<std::size_t> FileDescriptor::read_at(std::uint64_t offset,
                                                   std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    check_interrupt();
    const auto got =
        read_once(offset + done, out.subspan(done, std::min(out.size() - done, kReadBytes)));
    if (!got) return std::nullopt;
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

std::optional<std::size_t> FileDescriptor::read_once(std::uint64_t offset,
                                                     std::span<std::byte> out) const {
  const ssize_t got =
      uninterrupted([&] { return system_call::pread(number_, out.data(), out.size(), offset); });
  if (got < 0) return std::nullopt;
  return static_cast<std::size_t>(got);
}

bool FileDescriptor::write_at(std::uint64_t offset, std::span<const std::byte> data) const {
  while (!data.empty()) {
    check_interrupt();
    const ssize_t written = uninterrupted([&] {
      return system_call::pwrite(number_, data.data(), std::min(data.size(), kWriteBytes), offset);
    });
    if (written == 0) errno = EIO;  // no system should, and none may keep us here for ever
    if (written <= 0) return false;
    data = data.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

bool FileDescriptor::sync() const {
  return uninterrupted([&] { return system_call::fsync(number_); }) == 0;
}

bool FileDescriptor::resize(std::uint64_t bytes) const {
  return uninterrupted([&] { return system_call::ftruncate(number_, bytes); }) == 0;
}

#ifdef __linux__
bool FileDescriptor::allocate(int mode, std::uint64_t offset, std::uint64_t bytes) const {
  return uninterrupted([&] { return system_call::fallocate(number_, mode, offset, bytes); }) == 0;
}
#endif

}  // namespace graphmount
