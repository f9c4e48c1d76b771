// Makes reads of the core fail now and then: preloaded into a process, it stands between the core
// and the C library. set_failures(n) has one in n of them end with EIO; 0 none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint one_in, num_reads;

void set_failures(unsigned n) { one_in = n; }

static int fails(void) {
  const unsigned n = one_in;
  return n != 0 && atomic_fetch_add(&num_reads, 1) % n == n - 1;
}

ssize_t pread(int file, void* out, size_t bytes, off_t offset) {
  static ssize_t (*next)(int, void*, size_t, off_t);
  if (next == NULL) next = dlsym(RTLD_NEXT, "pread");
  if (!fails()) return next(file, out, bytes, offset);
  errno = EIO;
  return -1;
}

ssize_t pread64(int file, void* out, size_t bytes, off_t offset) {
  return pread(file, out, bytes, offset);
}

long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (next == NULL) next = dlsym(RTLD_NEXT, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (number != SYS_io_uring_enter || !fails()) return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  errno = EIO;
  return -1;
}
