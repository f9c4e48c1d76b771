#include "graphmount/error.hpp"

#include <system_error>

namespace graphmount {

IoError::IoError(std::string path, const std::string& operation, int code)
    : FileError(std::move(path), operation + ": " + std::generic_category().message(code)),
      code_(code) {}

}  // namespace graphmount
