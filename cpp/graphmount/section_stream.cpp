#include "graphmount/section_stream.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace graphmount {

void SectionStream::append(std::span<const std::byte> data) {
  if (has_known_size_ && data.size() > section().bytes - bytes())
    throw std::invalid_argument(section().name() + ": more was appended than the section holds");
  if (!incomplete_.empty()) {
    const std::size_t missing =
        std::min<std::size_t>(kChunkBytes - incomplete_.size(), data.size());
    incomplete_.insert(incomplete_.end(), data.begin(),
                       data.begin() + static_cast<std::ptrdiff_t>(missing));
    data = data.subspan(missing);
    if (incomplete_.size() < kChunkBytes) return;
    writer_->write(index_, written_, incomplete_);
    written_ += incomplete_.size();
    incomplete_.clear();
  }
  const std::size_t whole = data.size() / kChunkBytes * kChunkBytes;
  writer_->write(index_, written_, data.first(whole));
  written_ += whole;
  const auto rest = data.subspan(whole);
  incomplete_.assign(rest.begin(), rest.end());
}

void SectionStream::finish() {
  if (bytes() != section().bytes)
    throw std::invalid_argument(section().name() + ": only " + std::to_string(bytes()) + " of " +
                                std::to_string(section().bytes) + " bytes were appended");
  writer_->write(index_, written_, incomplete_);
  written_ += incomplete_.size();
  incomplete_.clear();
}

}  // namespace graphmount
