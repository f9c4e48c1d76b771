// Shows whether a child of fork frees memory again that the C library was freeing while it made a
// thread. Preloaded into a process, it stops the next thread that makes one in the middle of that,
// and for half a second after let_go(), in which another thread forks.
//
// What was being freed is never used again, so whoever frees it has it from a thread that was half
// made.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { kNot, kWanted, kHeld, kLetGo };

void __libc_free(void* memory);

static atomic_int state = kNot, num_freed_again;
static void* _Atomic freed;
static __thread int is_making __attribute__((tls_model("initial-exec")));

static const char* wanted_maker;

// Of those that a library makes whose name has this in it.
void hold_next(const char* maker) {
  wanted_maker = strdup(maker);
  state = kWanted;
}

int is_held(void) { return state == kHeld; }
void let_go(void) { state = kLetGo; }
int freed_again(void) { return num_freed_again; }

void free(void* memory) {
  int wanted = kWanted;
  if (memory == NULL) return;
  if (memory == freed) {
    ++num_freed_again;
  } else if (is_making && atomic_compare_exchange_strong(&state, &wanted, kHeld)) {
    freed = memory;
    while (state == kHeld) usleep(1000);
    usleep(500000);
  } else {
    __libc_free(memory);
  }
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  static int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (next == NULL) next = dlsym(RTLD_NEXT, "pthread_create");
  Dl_info maker = {0};
  is_making = state == kWanted && dladdr(__builtin_return_address(0), &maker) != 0 &&
              strstr(maker.dli_fname, wanted_maker) != NULL;
  const int result = next(thread, attributes, body, argument);
  is_making = 0;
  return result;
}
