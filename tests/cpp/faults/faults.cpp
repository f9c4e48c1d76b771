#include "faults.hpp"

#include <atomic>
#include <stdexcept>

namespace graphmount::testing {
namespace {

// Numbers only: calls come from any thread, and from handlers of signals.
std::atomic<std::uint64_t> g_counts[kNumCalls];
std::atomic<std::uint64_t> g_strikes;
std::atomic<bool> g_counts_calls, g_strikes_calls;
// The fault that is planned, as long as g_strikes_calls; a thread may still look at the last one.
std::atomic<Call> g_call;
std::atomic<int> g_code;
std::atomic<std::uint64_t> g_at;
std::atomic<bool> g_goes_on;

void start() {
  for (auto& count : g_counts) count = 0;
  g_strikes = 0;
  if (g_counts_calls.exchange(true)) throw std::logic_error("calls are faulty already");
}

}  // namespace

const char* name_of(Call call) {
  constexpr const char* kNames[] = {"open",
                                    "close",
                                    "dup",
                                    "mkostemp",
                                    "access",
                                    "pread",
                                    "pwrite",
                                    "stat",
                                    "fstat",
                                    "ftruncate",
                                    "fsync",
                                    "linkat",
                                    "rename",
                                    "unlink",
                                    "posix_fadvise",
                                    "mmap of a file",
                                    "mmap of memory",
                                    "madvise",
                                    "fallocate",
                                    "sync_file_range",
                                    "statx",
                                    "preadv2",
                                    "cachestat",
                                    "mremap",
                                    "memfd_create",
                                    "fcntl to seal",
                                    "fcntl to see seals",
                                    "io_uring_setup",
                                    "io_uring_enter",
                                    "io_uring_register",
                                    "read by a ring",
                                    "completion",
                                    "operator new"};
  static_assert(std::size(kNames) == kNumCalls);
  return kNames[static_cast<int>(call)];
}

FaultyCalls::FaultyCalls() {
  start();
}

FaultyCalls::FaultyCalls(const Fault& fault) {
  start();
  g_call = fault.call;
  g_code = fault.code;
  g_at = fault.at;
  g_goes_on = fault.goes_on;
  g_strikes_calls = true;
}

FaultyCalls::~FaultyCalls() {
  g_strikes_calls = false;
  g_counts_calls = false;
}

std::uint64_t FaultyCalls::num_calls(Call call) const {
  return g_counts[static_cast<int>(call)];
}

std::uint64_t FaultyCalls::num_strikes() const {
  return g_strikes;
}

int fault_of(Call call) noexcept {
  if (!g_counts_calls) return kNoFault;
  const std::uint64_t number = ++g_counts[static_cast<int>(call)];
  if (!g_strikes_calls || g_call != call) return kNoFault;
  if (g_goes_on ? number < g_at : number != g_at) return kNoFault;
  ++g_strikes;
  return g_code;
}

}  // namespace graphmount::testing
