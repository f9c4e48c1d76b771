// The GIL around work of the core, also while the interpreter ends.
//
// A thread that wants the GIL of an interpreter that is going away is ended by Python, in the
// middle of C++ code, which aborts the process. So there is a gate. `close_gate`, called at exit,
// lets in those who have passed it, and stops all others for good: they sleep until the process is
// gone. Only the thread that ends the interpreter passes freely. All bindings take and release the
// GIL by these two classes.
#pragma once

#include <nanobind/nanobind.h>

namespace graphmount::bindings {

/// Lets other threads run Python while it lives.
class GilRelease {
 public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Lets this thread, which may be one of the core, run Python while it lives.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  bool has_passed_;
  PyGILState_STATE state_;
};

/// Stops all threads but this one where they leave or enter Python; waits, for some seconds at
/// most, for those that run Python on behalf of the core.
void close_gate();

}  // namespace graphmount::bindings
