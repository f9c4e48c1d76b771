// Writes a .gl or .gd file section by section: places the sections, computes the checksums and puts
// the header in front. The file appears atomically when `finish` returns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "graphmount/format/format.hpp"
#include "graphmount/system/files/atomic_file.hpp"

namespace graphmount {

class FormatWriter {
 public:
  /// `header` lists the sections with kind, direction, dtype, rows and columns; the rest of each,
  /// and the section of checksums, are filled in here.
  FormatWriter(const std::filesystem::path& path, Header header);

  /// Writes part of section number `index`, in parallel. `offset` is a multiple of kChunkBytes, and
  /// so is the length unless it reaches the end of the section.
  void write(std::size_t index, std::uint64_t offset, std::span<const std::byte> data);

  /// Writes part of a chunk, or of several; the checksums are the caller's to set.
  void write_part(std::size_t index, std::uint64_t offset, std::span<const std::byte> data);

  /// Sets the checksum of a chunk, counted from the start of section number `index`.
  void set_checksum(std::size_t index, std::uint64_t chunk, std::uint64_t checksum);

  /// Sets the rows of the file and of its section number `index`, where they were not known before.
  /// What is behind that section must not have been written yet.
  void set_rows(std::size_t index, std::uint64_t rows);

  void finish();

  const Header& header() const { return header_; }

 private:
  Header header_;
  AtomicFile file_;
  std::vector<std::uint64_t> checksums_;
};

}  // namespace graphmount
