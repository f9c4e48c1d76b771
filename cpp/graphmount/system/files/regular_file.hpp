// A regular file, opened for reading. The core opens all files that others have made through this.
//
// A named pipe, a socket, a terminal or a device is refused by an IoError that says what it is, and
// is never waited for. POSIX only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "graphmount/system/files/file_descriptor.hpp"

namespace graphmount {

struct RegularFile {
  FileDescriptor descriptor;
  std::uint64_t size = 0;
};

/// Opens it. `purpose` is a verb for messages: "cannot map …".
RegularFile open_regular(const std::filesystem::path& path, const std::string& purpose);

/// The same for one that was opened as `path`; none, and errno, is refused too.
RegularFile take_regular(FileDescriptor descriptor, const std::filesystem::path& path,
                         const std::string& purpose);

/// Throws IoError unless this is the mode of a regular file.
void require_regular(mode_t mode, const std::filesystem::path& path, const std::string& purpose);

/// What a file that is not regular is, in words: "a named pipe".
std::string kind_of_file(mode_t mode);

}  // namespace graphmount
