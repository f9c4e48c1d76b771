// Whether a part of a mapped file is in memory, checked so rarely that it costs nothing.
//
// The answer is only good for choosing a way to read: pages may go at any time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount {

/// How often this process has waited for a page to be read.
std::int64_t num_page_waits();

/// Shared by all calls on a mounted file, from any thread.
class FileResidency {
 public:
  explicit FileResidency(const MappedFile& file) : FileResidency(file, 0, file.size()) {}
  FileResidency(const MappedFile& file, std::uint64_t offset, std::uint64_t bytes)
      : file_(&file), offset_(offset), bytes_(bytes) {}

  /// Whether nothing, or next to nothing, is missing. Looks at the page cache once in a while; once
  /// all is there, only if the process has had to wait for many pages since. Where only pages are
  /// missing that nobody waits for, which systems throw out that look for such, all is there too.
  bool is_all_resident();

 private:
  const MappedFile* file_;
  std::uint64_t offset_, bytes_;
  std::atomic<bool> all_resident_ = false;
  std::atomic<std::int64_t> waits_seen_ = -1;
  std::atomic<std::chrono::steady_clock::rep> next_look_ = 0;
};

}  // namespace graphmount
