// Ids in the order of the file: sorted, with the place each of them had, so that the disk is asked
// in one direction and every row once.
//
// By radix, in memory that is used again: the time grows with the number of ids alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/digit_sort.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

class RowOrder {
 public:
  /// How many ids can be sorted at a time if they are below `num_rows`.
  static std::size_t most_ids(std::uint64_t num_rows) {
    constexpr int kMostPlaceBits = 18;  // two buffers of 2 MiB
    const int row_bits = static_cast<int>(std::bit_width(num_rows));
    return std::size_t{1} << std::clamp(63 - row_bits, 0, kMostPlaceBits);
  }

  /// Sorts ids that were found to be in [0, num_rows), at most `most_ids` of them. Equal ids keep
  /// their order. Throws IdError if one of them is so no more.
  void sort(std::span<const std::int64_t> ids, std::uint64_t num_rows) {
    constexpr int kDigitBits = 11;
    constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigitBits;
    place_bits_ = static_cast<int>(std::bit_width(ids.size()));
    keys_.resize(ids.size());
    others_.resize(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      keys_[i] = static_cast<std::uint64_t>(read_id(ids, i, num_rows, "row")) << place_bits_ | i;
    const int end = place_bits_ + static_cast<int>(std::bit_width(num_rows));
    for (int shift = place_bits_; shift < end; shift += kDigitBits) {
      sort_by_digit(
          ids.size(), kDigits, begins_,
          [&, keys = keys_.data()](std::size_t i) { return keys[i] >> shift & (kDigits - 1); },
          [keys = keys_.data(), others = others_.data()](std::size_t i, std::size_t place) {
            others[place] = keys[i];
          });
      std::swap(keys_, others_);
    }
  }

  std::size_t size() const { return keys_.size(); }
  std::uint64_t row(std::size_t i) const { return keys_[i] >> place_bits_; }
  std::size_t place(std::size_t i) const {
    return keys_[i] & ((std::uint64_t{1} << place_bits_) - 1);
  }
  std::size_t bytes() const { return keys_.bytes() + others_.bytes(); }

 private:
  Buffer<std::uint64_t> keys_, others_;  // row and place in one number
  std::vector<std::uint32_t> begins_;
  int place_bits_ = 0;
};

}  // namespace graphmount
