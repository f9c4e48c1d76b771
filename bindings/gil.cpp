#include "gil.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace graphmount::bindings {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestWait = 10s;

std::atomic<bool> g_is_closed = false;
// Threads that have passed the gate, and wait for the GIL or run Python on behalf of the core.
std::atomic<int> g_num_passed = 0;
thread_local int t_num_passed = 0;  // of them, in this thread: they can be nested
thread_local bool t_closed_it = false;

/// Sleeps until the process is gone.
[[noreturn]] void sleep_for_good() {
  g_num_passed -= t_num_passed;
  for (;;) std::this_thread::sleep_for(1h);
}

bool is_shut() {
  return g_is_closed && !t_closed_it;
}

// A thread that passes is counted before it looks at the gate, and the count is read after the gate
// was closed. So either the thread sees the closed gate, or the count includes the thread.
void pass() {
  ++t_num_passed;
  ++g_num_passed;
  if (is_shut()) sleep_for_good();
}

void leave() {
  --t_num_passed;
  --g_num_passed;
}

// A child of fork has one thread.
[[maybe_unused]] const int g_registered =
    pthread_atfork(nullptr, nullptr, [] { g_num_passed = t_num_passed; });

}  // namespace

ClosingRelease::ClosingRelease() : state_(PyEval_SaveThread()) {
  if (is_shut()) sleep_for_good();
}

ClosingRelease::~ClosingRelease() {
  pass();
  PyEval_RestoreThread(state_);
  leave();
}

// When the interpreter has ended, Python says of every thread that it holds the GIL.
GilAcquire::GilAcquire() : has_passed_(Py_IsInitialized() == 0 || PyGILState_Check() == 0) {
  if (has_passed_) pass();
  state_ = PyGILState_Ensure();
}

GilAcquire::~GilAcquire() {
  PyGILState_Release(state_);
  if (has_passed_) leave();
}

void check_signals() {
  const GilAcquire acquire;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

void close_gate() {
  t_closed_it = true;
  g_is_closed = true;
  const ClosingRelease release;
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (g_num_passed > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(1ms);
}

}  // namespace graphmount::bindings
