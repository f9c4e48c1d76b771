// Writes one section of a file from consecutive pieces of any length.
//
// Large pieces are written from where they are, but for the last bytes, which wait until they fill
// a page; a checksum grows with the parts of its chunk. Small pieces are collected first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/checksum.hpp"
#include "graphmount/format/format_writer.hpp"

namespace graphmount {

class SectionStream {
 public:
  /// Section number `index` of `writer`, from its beginning. One whose size is not known yet takes
  /// whatever comes; the writer must be told its rows before `finish`.
  SectionStream(FormatWriter& writer, std::size_t index, bool has_known_size = true)
      : writer_(&writer), index_(index), has_known_size_(has_known_size) {}

  /// The next bytes of the section. Throws std::invalid_argument if there are more than it has.
  void append(std::span<const std::byte> data);

  /// Throws std::invalid_argument if the section is not complete.
  void finish();

  /// How many bytes have been appended.
  std::uint64_t bytes() const { return written_ + held_.size(); }
  const Section& section() const { return writer_->header().sections[index_]; }

 private:
  void require_room(std::size_t bytes) const;
  void flush();
  void write(std::span<const std::byte> data);
  void end_chunk();

  FormatWriter* writer_;
  std::size_t index_;
  bool has_known_size_;
  std::uint64_t written_ = 0;
  std::vector<std::byte> held_;  // what comes next
  Xxh64 chunk_hash_;             // of the part of a chunk that has been written
};

}  // namespace graphmount
