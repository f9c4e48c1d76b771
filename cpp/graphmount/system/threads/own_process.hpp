// The process that has begun something, such as to write a file. A forked child has a copy of
// everything its parent was doing, and shares its open files: it would write between the bytes of
// the parent, and remove files of the parent. So only the process that began may go on or clean up.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "graphmount/base/error.hpp"

namespace graphmount {

class OwnProcess {
 public:
  bool is_here() const { return getpid() == process_; }

  /// Throws in a child. `path` is what was to be written, or the folder of a temporary file.
  void require_here(const std::filesystem::path& path) const {
    if (is_here()) return;
    throw std::runtime_error(say(path.string(), ": this was begun by process ", process_,
                                 ", and a forked child of it cannot go on ",
                                 "with it; let the child end, or start anew in it"));
  }

 private:
  pid_t process_ = getpid();
};

}  // namespace graphmount
