// Reads values that others may change meanwhile: in a mapped file, or in an array of the caller.
//
// A value that is checked and then followed must be copied once. The compiler is free to read plain
// memory again after the check, and would then get what another process or thread has written there
// meanwhile.
#pragma once

namespace graphmount {

/// Reads the value at a place, exactly once.
template <class Value>
Value read_once(const Value* place) {
  return *static_cast<const volatile Value*>(place);
}

}  // namespace graphmount
