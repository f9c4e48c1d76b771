// Every system call that the core makes on files, mappings and rings: `system_call::open`, `close`,
// `pread`, `pwrite`, `fsync`, `map`, `uring_enter` and so on.
//
// Each is the call itself and no more: the same arguments, the same result, errno as the system
// left it, no loop. The caller repeats a call if that is needed; for reading and writing a file
// that is `FileDescriptor`. No other file of the core calls the system about files, so that a test
// can put its own definitions in place of system_calls.cpp and make any call fail
// (tests/cpp/faults). Calls that only some systems have are declared where these have them. POSIX
// only.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace graphmount::system_call {

int open(const char* path, int flags, mode_t mode = 0);
int close(int descriptor) noexcept;
/// dup, closed in programs that this one starts.
int duplicate(int descriptor);
/// mkstemp, closed in programs that this one starts.
int make_temporary(char* name);
int access(const char* path, int mode);

ssize_t pread(int descriptor, void* out, std::size_t bytes, std::uint64_t offset);
ssize_t pwrite(int descriptor, const void* data, std::size_t bytes, std::uint64_t offset);

int stat(const char* path, struct stat& status);
int fstat(int descriptor, struct stat& status);
int ftruncate(int descriptor, std::uint64_t bytes);
int fsync(int descriptor);
int link_followed(const char* from, const char* to);  // linkat with AT_SYMLINK_FOLLOW
int rename(const char* from, const char* to);
int unlink(const char* path) noexcept;
/// posix_fadvise, or nothing where there is none. Returns the error, not -1.
int advise_file(int descriptor, std::uint64_t offset, std::uint64_t bytes, int advice) noexcept;

void* map(void* where, std::size_t bytes, int protection, int flags, int descriptor,
          std::uint64_t offset);
int unmap(void* memory, std::size_t bytes) noexcept;
int advise_memory(void* memory, std::size_t bytes, int advice);

#ifdef __linux__
/// memfd_create, which can be sealed, and is closed in programs that this one starts.
int make_shared_memory(const char* name);
int add_seals(int descriptor, int seals);
int seals_of(int descriptor);
int fallocate(int descriptor, int mode, std::uint64_t offset, std::uint64_t bytes);
int sync_file_range(int descriptor, std::uint64_t offset, std::uint64_t bytes, unsigned flags);
/// Into the 256 bytes of a struct statx.
int statx(int descriptor, unsigned mask, struct statx& status);
ssize_t preadv2(int descriptor, const iovec& vector, std::uint64_t offset, int flags);
/// cachestat(2), by number: the C library has no wrapper for it yet.
int cachestat(int descriptor, const void* range, void* counts);
void* remap(void* memory, std::size_t bytes, std::size_t new_bytes);

int uring_setup(unsigned entries, void* params);
int uring_enter(int ring, unsigned num_queued, unsigned least, unsigned flags);
int uring_register(int ring, unsigned operation, const void* argument, unsigned count);
/// What a read by a ring asks for, and what its completion says: the number as it is. Such reads
/// fail here, not in a call.
std::uint32_t uring_read_bytes(std::uint32_t bytes) noexcept;
std::int32_t uring_result(std::int32_t result) noexcept;
#endif

}  // namespace graphmount::system_call
