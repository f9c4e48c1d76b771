// How fast a disk serves one file: reads of one size, at places all over the file or in order, so
// many at a time, for a while.
//
// The ways are those that rows are read by, over the same classes. No figure comes from memory:
// reads go past the page cache, and where the file system does not allow that, the file is dropped
// from the cache first and no block is read twice. A file that was filled with the pattern of a key
// is checked while it is read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graphmount/system/disk/block_file.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount {

/// Fills `out` with what a file of this key has from `offset` on, a multiple of 8: bytes that no
/// file system can compress, and that tell which place they are of.
void fill_probe_pattern(std::span<std::uint64_t> out, std::uint64_t offset, std::uint64_t key);

enum class ProbeWay { kMapped, kPread, kUring };

struct ProbeOptions {
  ProbeWay way = ProbeWay::kPread;
  unsigned depth = 1;  // reads at a time: in the ring, or threads that wait
  std::uint64_t read_bytes = 4096;
  bool in_order = false;
  double seconds = 1;
};

struct ProbeResult {
  std::uint64_t reads = 0;  // at least one, however short the time was
  double seconds = 0;       // less than were asked for where all blocks have been read
};

class DiskProbe {
 public:
  /// `key` is that of the pattern in the file, if it has one. Throws IoError if the file cannot be
  /// opened.
  explicit DiskProbe(const std::filesystem::path& path, std::optional<std::uint64_t> key = {});

  /// Throws IoError if the file cannot be read in this way, FileChangedError if what was read is
  /// not the pattern, std::invalid_argument if the file is shorter than one read.
  ProbeResult run(const ProbeOptions& options) const;

  /// Nothing, or why reads go through the page cache.
  const std::optional<std::string>& why_not_direct() const { return why_not_direct_; }

  /// What the page cache still holds of the file when it has been told to drop it.
  std::optional<std::uint64_t> undropped_bytes() const;

 private:
  class Places;

  void drop_from_cache() const;
  void check(const std::byte* bytes, std::uint64_t offset, std::uint64_t count) const;
  template <class Read>
  std::uint64_t run_threads(const ProbeOptions& options, Places& places, const Read& read) const;
  std::uint64_t run_mapped(const ProbeOptions& options, Places& places) const;
  std::uint64_t run_pread(const ProbeOptions& options, Places& places) const;
  std::uint64_t run_uring(const ProbeOptions& options, Places& places) const;

  std::shared_ptr<MappedFile> file_;
  std::unique_ptr<BlockFile> blocks_;
  std::optional<std::uint64_t> key_;
  std::optional<std::string> why_not_direct_;
  mutable std::atomic<std::uint64_t> num_runs_ = 0;
};

}  // namespace graphmount
