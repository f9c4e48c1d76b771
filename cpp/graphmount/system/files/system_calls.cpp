#include "graphmount/system/files/system_calls.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#endif

namespace graphmount::system_call {

int open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}

int close(int descriptor) noexcept {
  return ::close(descriptor);
}

int duplicate(int descriptor) {
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

int make_temporary(char* name) {
  return ::mkostemp(name, O_CLOEXEC);
}

int access(const char* path, int mode) {
  return ::access(path, mode);
}

ssize_t pread(int descriptor, void* out, std::size_t bytes, std::uint64_t offset) {
  return ::pread(descriptor, out, bytes, static_cast<off_t>(offset));
}

ssize_t pwrite(int descriptor, const void* data, std::size_t bytes, std::uint64_t offset) {
  return ::pwrite(descriptor, data, bytes, static_cast<off_t>(offset));
}

int stat(const char* path, struct stat& status) {
  return ::stat(path, &status);
}

int fstat(int descriptor, struct stat& status) {
  return ::fstat(descriptor, &status);
}

int ftruncate(int descriptor, std::uint64_t bytes) {
  return ::ftruncate(descriptor, static_cast<off_t>(bytes));
}

int fsync(int descriptor) {
  return ::fsync(descriptor);
}

int link_followed(const char* from, const char* to) {
  return ::linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

int rename(const char* from, const char* to) {
  return ::rename(from, to);
}

int unlink(const char* path) noexcept {
  return ::unlink(path);
}

int advise_file([[maybe_unused]] int descriptor, [[maybe_unused]] std::uint64_t offset,
                [[maybe_unused]] std::uint64_t bytes, [[maybe_unused]] int advice) noexcept {
#ifdef POSIX_FADV_NORMAL
  return ::posix_fadvise(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes), advice);
#else
  return 0;
#endif
}

void* map(void* where, std::size_t bytes, int protection, int flags, int descriptor,
          std::uint64_t offset) {
  return ::mmap(where, bytes, protection, flags, descriptor, static_cast<off_t>(offset));
}

int unmap(void* memory, std::size_t bytes) noexcept {
  return ::munmap(memory, bytes);
}

int advise_memory(void* memory, std::size_t bytes, int advice) {
  return ::madvise(memory, bytes, advice);
}

#ifdef __linux__

namespace {

// The numbers of io_uring are the same on every architecture, and newer than many a C library.
constexpr long kUringSetup = 425, kUringEnter = 426, kUringRegister = 427, kCachestat = 451;

}  // namespace

int make_shared_memory(const char* name) {
  // Where the system knows how to say that nothing in it is a program, it may insist on that.
#ifdef MFD_NOEXEC_SEAL
  constexpr unsigned kNoExec = MFD_NOEXEC_SEAL;
#else
  constexpr unsigned kNoExec = 8;
#endif
  const int made = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExec);
  if (made >= 0 || errno != EINVAL) return made;
  return ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int add_seals(int descriptor, int seals) {
  return ::fcntl(descriptor, F_ADD_SEALS, seals);
}

int seals_of(int descriptor) {
  return ::fcntl(descriptor, F_GET_SEALS);
}

int fallocate(int descriptor, int mode, std::uint64_t offset, std::uint64_t bytes) {
  return ::fallocate(descriptor, mode, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

int sync_file_range(int descriptor, std::uint64_t offset, std::uint64_t bytes, unsigned flags) {
  return ::sync_file_range(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                           flags);
}

int statx(int descriptor, unsigned mask, struct statx& status) {
  return ::statx(descriptor, "", AT_EMPTY_PATH, mask, &status);
}

ssize_t preadv2(int descriptor, const iovec& vector, std::uint64_t offset, int flags) {
  return ::preadv2(descriptor, &vector, 1, static_cast<off_t>(offset), flags);
}

int cachestat(int descriptor, const void* range, void* counts) {
  return static_cast<int>(::syscall(kCachestat, descriptor, range, counts, 0U));
}

void* remap(void* memory, std::size_t bytes, std::size_t new_bytes) {
  return ::mremap(memory, bytes, new_bytes, MREMAP_MAYMOVE);
}

int uring_setup(unsigned entries, void* params) {
  return static_cast<int>(::syscall(kUringSetup, entries, params));
}

int uring_enter(int ring, unsigned num_queued, unsigned least, unsigned flags) {
  return static_cast<int>(
      ::syscall(kUringEnter, ring, num_queued, least, flags, nullptr, _NSIG / 8));
}

int uring_register(int ring, unsigned operation, const void* argument, unsigned count) {
  return static_cast<int>(::syscall(kUringRegister, ring, operation, argument, count));
}

std::uint32_t uring_read_bytes(std::uint32_t bytes) noexcept {
  return bytes;
}

std::int32_t uring_result(std::int32_t result) noexcept {
  return result;
}

#endif

}  // namespace graphmount::system_call
