// The system calls of the core, in place of system_calls.cpp: the same, unless a fault is planned.
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "faults.hpp"
#include "graphmount/system/files/system_calls.hpp"

namespace graphmount::testing {
namespace {

std::atomic<bool> g_only_named_files;

// What a read past the page cache may be cut at.
constexpr std::uint32_t kBlock = 4096;

// -1 and the error that is planned; otherwise the call.
template <class Make>
auto faulty(Call call, const Make& make) -> decltype(make()) {
  const int fault = fault_of(call);
  if (fault == kNoFault) return make();
  errno = fault;
  return -1;
}

// As above, or a transfer of fewer bytes.
template <class Make>
ssize_t faulty_transfer(Call call, std::size_t bytes, const Make& make) {
  const int fault = fault_of(call);
  if (fault == kNoFault) return make(bytes);
  if (fault == kNothing) return 0;
  if (fault == kHalf)
    return make(std::max<std::size_t>(std::min<std::size_t>(bytes, 1), bytes / 2));
  errno = fault;
  return -1;
}

}  // namespace

OnlyNamedFiles::OnlyNamedFiles() {
  g_only_named_files = true;
}

OnlyNamedFiles::~OnlyNamedFiles() {
  g_only_named_files = false;
}

}  // namespace graphmount::testing

namespace graphmount::system_call {

using namespace graphmount::testing;

int open(const char* path, int flags, mode_t mode) {
  return faulty(Call::kOpen, [&] {
    if (g_only_named_files && (flags & O_TMPFILE) == O_TMPFILE) {
      errno = EOPNOTSUPP;
      return -1;
    }
    return ::open(path, flags, mode);
  });
}

int close(int descriptor) noexcept {
  // Linux closes the file whatever it says.
  const int result = ::close(descriptor);
  return faulty(Call::kClose, [&] { return result; });
}

int duplicate(int descriptor) {
  return faulty(Call::kDuplicate, [&] { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0); });
}

int make_temporary(char* name) {
  return faulty(Call::kMakeTemporary, [&] { return ::mkostemp(name, O_CLOEXEC); });
}

int access(const char* path, int mode) {
  return faulty(Call::kAccess, [&] { return ::access(path, mode); });
}

ssize_t pread(int descriptor, void* out, std::size_t bytes, std::uint64_t offset) {
  return faulty_transfer(Call::kPread, bytes, [&](std::size_t count) {
    // Past the page cache, whole blocks are moved or none.
    if (count < bytes && (::fcntl(descriptor, F_GETFL) & O_DIRECT) != 0)
      count = count < kBlock ? bytes : count / kBlock * kBlock;
    return ::pread(descriptor, out, count, static_cast<off_t>(offset));
  });
}

ssize_t pwrite(int descriptor, const void* data, std::size_t bytes, std::uint64_t offset) {
  return faulty_transfer(Call::kPwrite, bytes, [&](std::size_t count) {
    return ::pwrite(descriptor, data, count, static_cast<off_t>(offset));
  });
}

int stat(const char* path, struct stat& status) {
  return faulty(Call::kStat, [&] { return ::stat(path, &status); });
}

int fstat(int descriptor, struct stat& status) {
  return faulty(Call::kFstat, [&] { return ::fstat(descriptor, &status); });
}

int ftruncate(int descriptor, std::uint64_t bytes) {
  return faulty(Call::kFtruncate,
                [&] { return ::ftruncate(descriptor, static_cast<off_t>(bytes)); });
}

int fsync(int descriptor) {
  // No test pulls the plug, and waiting for the disk would take most of the time.
  return faulty(Call::kFsync, [&] { return ::fcntl(descriptor, F_GETFD) < 0 ? -1 : 0; });
}

int link_followed(const char* from, const char* to) {
  return faulty(Call::kLink,
                [&] { return ::linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW); });
}

int rename(const char* from, const char* to) {
  return faulty(Call::kRename, [&] { return ::rename(from, to); });
}

int unlink(const char* path) noexcept {
  return faulty(Call::kUnlink, [&] { return ::unlink(path); });
}

int advise_file(int descriptor, std::uint64_t offset, std::uint64_t bytes, int advice) noexcept {
  const int fault = fault_of(Call::kAdviseFile);
  if (fault != kNoFault) return fault;
  return ::posix_fadvise(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes), advice);
}

void* map(void* where, std::size_t bytes, int protection, int flags, int descriptor,
          std::uint64_t offset) {
  const int fault = fault_of(descriptor < 0 ? Call::kMapMemory : Call::kMapFile);
  if (fault == kNoFault)
    return ::mmap(where, bytes, protection, flags, descriptor, static_cast<off_t>(offset));
  errno = fault;
  return MAP_FAILED;
}

int unmap(void* memory, std::size_t bytes) noexcept {
  return ::munmap(memory, bytes);
}

int advise_memory(void* memory, std::size_t bytes, int advice) {
  return faulty(Call::kAdviseMemory, [&] { return ::madvise(memory, bytes, advice); });
}

int fallocate(int descriptor, int mode, std::uint64_t offset, std::uint64_t bytes) {
  return faulty(Call::kFallocate, [&] {
    return ::fallocate(descriptor, mode, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  });
}

int sync_file_range(int descriptor, std::uint64_t offset, std::uint64_t bytes, unsigned flags) {
  return faulty(Call::kSyncFileRange, [&] {
    return ::sync_file_range(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                             flags);
  });
}

int statx(int descriptor, unsigned mask, struct statx& status) {
  return faulty(Call::kStatx,
                [&] { return ::statx(descriptor, "", AT_EMPTY_PATH, mask, &status); });
}

ssize_t preadv2(int descriptor, const iovec& vector, std::uint64_t offset, int flags) {
  return faulty(Call::kPreadv2, [&] {
    return ::preadv2(descriptor, &vector, 1, static_cast<off_t>(offset), flags);
  });
}

int cachestat(int descriptor, const void* range, void* counts) {
  constexpr long kNumber = 451;
  return faulty(Call::kCachestat, [&] {
    return static_cast<int>(::syscall(kNumber, descriptor, range, counts, 0U));
  });
}

void* remap(void* memory, std::size_t bytes, std::size_t new_bytes) {
  const int fault = fault_of(Call::kRemap);
  if (fault == kNoFault) return ::mremap(memory, bytes, new_bytes, MREMAP_MAYMOVE);
  errno = fault;
  return MAP_FAILED;
}

int make_shared_memory(const char* name) {
  return faulty(Call::kMakeSharedMemory,
                [&] { return ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); });
}

int add_seals(int descriptor, int seals) {
  return faulty(Call::kAddSeals, [&] { return ::fcntl(descriptor, F_ADD_SEALS, seals); });
}

int seals_of(int descriptor) {
  return faulty(Call::kSealsOf, [&] { return ::fcntl(descriptor, F_GET_SEALS); });
}

int uring_setup(unsigned entries, void* params) {
  return faulty(Call::kUringSetup,
                [&] { return static_cast<int>(::syscall(SYS_io_uring_setup, entries, params)); });
}

int uring_enter(int ring, unsigned num_queued, unsigned least, unsigned flags) {
  return faulty(Call::kUringEnter, [&] {
    return static_cast<int>(
        ::syscall(SYS_io_uring_enter, ring, num_queued, least, flags, nullptr, _NSIG / 8));
  });
}

int uring_register(int ring, unsigned operation, const void* argument, unsigned count) {
  return faulty(Call::kUringRegister, [&] {
    return static_cast<int>(::syscall(SYS_io_uring_register, ring, operation, argument, count));
  });
}

std::uint32_t uring_read_bytes(std::uint32_t bytes) noexcept {
  if (fault_of(Call::kUringRead) != kHalf || bytes <= kBlock) return bytes;
  return bytes / 2 / kBlock * kBlock;
}

std::int32_t uring_result(std::int32_t result) noexcept {
  const int fault = fault_of(Call::kUringResult);
  if (fault == kNoFault) return result;
  return fault == kNothing ? 0 : -fault;
}

}  // namespace graphmount::system_call
