// Writes one section of a file from consecutive pieces of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/format_writer.hpp"

namespace graphmount {

class SectionStream {
 public:
  /// Section number `index` of `writer`, from its beginning.
  SectionStream(FormatWriter& writer, std::size_t index) : writer_(&writer), index_(index) {}

  /// The next bytes of the section. Throws std::invalid_argument if there are more than it has.
  void append(std::span<const std::byte> data);

  /// Throws std::invalid_argument if the section is not complete.
  void finish();

  const Section& section() const { return writer_->header().sections[index_]; }

 private:
  FormatWriter* writer_;
  std::size_t index_;
  std::uint64_t written_ = 0;          // a multiple of kChunkBytes until the end
  std::vector<std::byte> incomplete_;  // the beginning of the next chunk
};

}  // namespace graphmount
