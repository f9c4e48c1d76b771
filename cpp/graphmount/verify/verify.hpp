// Reads a whole file and checks it against the format: every checksum, every byte of padding and
// every rule about the content. One pass over the data, in parallel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "graphmount/base/progress.hpp"
#include "graphmount/format/format.hpp"

namespace graphmount {

/// Something that is wrong: in which section, at which byte of the file, and what.
struct Problem {
  std::string section;
  std::uint64_t offset = 0;
  std::string message;
};

struct Verification {
  FileKind kind = FileKind::kGraph;
  std::uint64_t file_bytes = 0;
  std::uint64_t num_problems = 0;  // may be more than are listed
  std::vector<Problem> problems;   // in file order
};

/// A file that cannot be opened as what its magic says has one problem, in its header. Throws
/// FormatError only if the file is not of this format at all, and IoError.
Verification verify_file(const std::shared_ptr<MappedFile>& file, const Progress& progress);
Verification verify_file(const std::filesystem::path& path, const Progress& progress);

}  // namespace graphmount
