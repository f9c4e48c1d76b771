// Values that others may change while they are used: of a mapped file, or of a caller's array.
//
// A value that is checked and then followed must be one copy of it. The compiler is free to read
// plain memory again after the check, and would find there what another process or thread has put
// there meanwhile.
#pragma once

namespace graphmount {

/// Reads the value at a place, exactly once.
template <class Value>
Value read_once(const Value* place) {
  return *static_cast<const volatile Value*>(place);
}

}  // namespace graphmount
