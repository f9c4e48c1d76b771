#include "graphmount/format/section_stream.hpp"

#include <algorithm>
#include <stdexcept>

#include "graphmount/base/error.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kPageBytes = 4096;
// Less than this waits for more: a system call for a few bytes costs more than copying them.
constexpr std::size_t kLeastWrite = 16 * kPageBytes;

}  // namespace

void SectionStream::require_room(std::size_t bytes) const {
  if (has_known_size_ && bytes > section().bytes - this->bytes())
    throw std::invalid_argument(section().name() + ": more was appended than the section holds");
}

void SectionStream::append(std::span<const std::byte> data) {
  require_room(data.size());
  const auto hold = [&](std::size_t count) {
    held_.insert(held_.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(count));
    data = data.subspan(count);
  };
  if (held_.size() + data.size() < kLeastWrite) {
    hold(data.size());
    return;
  }
  if (!held_.empty()) {
    // Up to the end of a page, if there is so much.
    hold(std::min<std::size_t>((kPageBytes - bytes() % kPageBytes) % kPageBytes, data.size()));
    flush();
  }
  const std::size_t rest =
      std::min<std::size_t>((written_ + data.size()) % kPageBytes, data.size());
  write(data.first(data.size() - rest));
  data = data.last(rest);
  hold(rest);
}

void SectionStream::finish() {
  if (bytes() != section().bytes)
    throw std::invalid_argument(
        say(section().name(), ": only ", bytes(), " of ", section().bytes, " bytes were appended"));
  flush();
  if (written_ % kChunkBytes != 0) end_chunk();
}

// Writes what waits for more.
void SectionStream::flush() {
  write(held_);
  held_.clear();
}

// Whole chunks at once, in parallel; what is left before and behind them as parts of chunks.
void SectionStream::write(std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::size_t in_chunk = written_ % kChunkBytes;
    const bool is_whole = in_chunk == 0 && data.size() >= kChunkBytes;
    const auto part =
        data.first(is_whole ? data.size() / kChunkBytes * kChunkBytes
                            : std::min<std::size_t>(kChunkBytes - in_chunk, data.size()));
    if (is_whole) {
      writer_->write(index_, written_, part);
    } else {
      writer_->write_part(index_, written_, part);
      chunk_hash_.add(part);
    }
    written_ += part.size();
    data = data.subspan(part.size());
    if (!is_whole && written_ % kChunkBytes == 0) end_chunk();
  }
}

void SectionStream::end_chunk() {
  writer_->set_checksum(index_, (written_ - 1) / kChunkBytes, chunk_hash_.hash());
  chunk_hash_ = {};
}

}  // namespace graphmount
