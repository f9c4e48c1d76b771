// The GIL around work of the core, also while the interpreter ends.
//
// If a thread asks for the GIL while the interpreter shuts down, Python ends the thread in the
// middle of C++ code, which aborts the process. So there is a gate. `close_gate`, called at exit,
// lets threads finish that have passed the gate, and stops all others: they sleep until the process
// is gone. Only the thread that ends the interpreter passes freely. All bindings take and release
// the GIL by these classes. While it is released, Ctrl-C ends what the core does, but for what
// tidies up.
#pragma once

#include <nanobind/nanobind.h>

#include "graphmount/base/interrupt.hpp"

namespace graphmount::bindings {

/// Lets other threads run Python while it lives, and is not ended by Ctrl-C: for work that must not
/// be left half done. It waits only for threads that have been told to stop.
class ClosingRelease {
 public:
  ClosingRelease();
  ~ClosingRelease();
  ClosingRelease(const ClosingRelease&) = delete;
  ClosingRelease& operator=(const ClosingRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Throws KeyboardInterrupt, or what else a handler of signals raises, if this is the thread that
/// Python gives signals to, and there is one. Takes the GIL.
void check_signals();

/// Lets other threads run Python while it lives, and Ctrl-C end what the core does.
class GilRelease {
  inline static const std::function<void()> kCheckSignals = check_signals;

  const ClosingRelease release_;
  const InterruptScope scope_{kCheckSignals};
};

/// What work() gives, which is done without the GIL.
template <class Work>
auto without_gil(const Work& work) {
  const GilRelease release;
  return work();
}

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
