// Bytes in a row, from whatever unpacks a file.
#pragma once

#include <cstddef>
#include <span>

namespace graphmount {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `out` with the next bytes. Returns how many; fewer than asked for only at the end.
  virtual std::size_t read(std::span<char> out) = 0;
};

}  // namespace graphmount
