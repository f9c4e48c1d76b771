// Runs part of a test in a forked child, for what may end the process or change it for good.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "check.hpp"

namespace graphmount::testing {

// ThreadSanitizer knows nothing of the threads of a child, so such tests are left out under it.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kCanFork = false;
#else
inline constexpr bool kCanFork = true;
#endif

// UBSan, which comes with AddressSanitizer here, looks at exceptions through a pipe: without
// descriptors it takes them for something else.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kCanDoWithoutDescriptors = false;
#else
inline constexpr bool kCanDoWithoutDescriptors = true;
#endif

/// The wait status of a child that runs `body`: exit code 0 if it returns, 1 if it throws.
template <class Body>
int run_in_child(Body&& body) {
  if (!kCanFork) skip("ThreadSanitizer does not follow fork");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    // A test that hangs is a failure, not a wait.
    alarm(60);
    try {
      body();
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    } catch (...) {
    }
    _exit(1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
  }
  return status;
}

inline bool is_success(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline bool is_death_by(int status, int signal_number) {
  return WIFSIGNALED(status) && WTERMSIG(status) == signal_number;
}

}  // namespace graphmount::testing
