#include "graphmount/error.hpp"

#include <cstdio>
#include <system_error>

namespace graphmount {

IoError::IoError(std::string path, const std::string& operation, int code)
    : FileError(std::move(path), operation + ": " + std::generic_category().message(code)),
      code_(code) {}

OutOfMemory::OutOfMemory(std::size_t bytes) noexcept {
  std::snprintf(text_, sizeof(text_),
                "out of memory: the system gives this process no further %zu bytes; use smaller "
                "batches or a lower memory=, or raise its limit (ulimit -v, the container's)",
                bytes);
}

}  // namespace graphmount
