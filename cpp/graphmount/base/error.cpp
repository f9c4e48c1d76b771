#include "graphmount/base/error.hpp"

#include <cstdio>
#include <system_error>
#include <utility>

namespace graphmount {

void add_part(std::string& message, std::string_view text) {
  message += text;
}
void add_part(std::string& message, std::int64_t number) {
  message += std::to_string(number);
}
void add_part(std::string& message, std::uint64_t number) {
  message += std::to_string(number);
}
void add_part(std::string& message, double number) {
  message += std::to_string(number);
}

FileError::FileError(std::string path, const std::string& problem)
    : std::runtime_error(path + ": " + problem), path_(std::move(path)) {}

IoError::IoError(std::string path, const std::string& operation, int code)
    : FileError(std::move(path), operation + ": " + std::generic_category().message(code)),
      code_(code) {}

OutOfMemory::OutOfMemory(std::size_t bytes) noexcept {
  std::snprintf(text_, sizeof(text_),
                "out of memory: the system gives this process no further %zu bytes; use smaller "
                "batches or a lower memory=, or raise its limit (ulimit -v, the container's)",
                bytes);
}

ThreadError::ThreadError(int code)
    : std::runtime_error("cannot start a thread (" + std::generic_category().message(code) +
                         "): raise the limit on threads (ulimit -u, the pids limit of a "
                         "container) or on memory (ulimit -v), or end other loops and programs"),
      code_(code) {}

}  // namespace graphmount
