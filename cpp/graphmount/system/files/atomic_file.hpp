// A new file that appears under its name complete or not at all.
//
// The bytes go to a temporary file in the same folder (where the system can, one without a name, so
// that even a killed process leaves nothing behind); `commit` syncs it to disk and renames it over
// the path. Until then, and after any error, whatever was at the path before is untouched. A forked
// child of the process that began can neither write, nor commit, nor remove anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <shared_mutex>
#include <span>

#include "graphmount/system/files/file_descriptor.hpp"
#include "graphmount/system/threads/own_process.hpp"

namespace graphmount {

class AtomicFile {
 public:
  /// Reserves the space, so that a full disk is an error here rather than later.
  AtomicFile(const std::filesystem::path& path, std::uint64_t bytes);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Makes the file at least as long, and reserves the space.
  void reserve(std::uint64_t bytes);

  /// For a file of unknown size, before it is written up to `end`: reserves space up to there and
  /// some more, which makes writing cheaper. `commit` frees what is left over. For one thread at a
  /// time, while others may write.
  void reserve_ahead(std::uint64_t end);

  /// May be called by several threads at once.
  void write_at(std::uint64_t offset, std::span<const std::byte> data) const;

  /// Lets the disk begin with what was written there, so that `commit` has less to wait for. May be
  /// called by several threads at once.
  void start_write_back(std::uint64_t offset, std::uint64_t bytes) const;

  void commit();

 private:
  void open_temporary();
  void give_back();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  OwnProcess process_;
  FileDescriptor file_;
  std::uint64_t reserved_ = 0;  // up to here; all there is if no more is to be reserved ahead
  bool has_spare_ = false;      // whether space behind the end of the file may be reserved
  bool has_name_ = false;       // whether temporary_ exists in the folder
  /// Shared by those who write, since the size that `give_back` cuts the file to must hold.
  mutable std::shared_mutex size_mutex_;
};

}  // namespace graphmount
