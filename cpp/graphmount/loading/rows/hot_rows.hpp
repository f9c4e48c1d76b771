// The rows that a cache holds for good, and where each of them is: the first of the file, or any
// set of rows. Looking one up is a comparison, or two looks into a bitmap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace graphmount {

class HotRows {
 public:
  static constexpr std::uint64_t kCold = UINT64_MAX;

  /// The rows [0, count).
  static HotRows first(std::uint64_t count) {
    HotRows rows;
    rows.size_ = count;
    return rows;
  }

  /// These rows, sorted and without repetition, of a matrix with `num_rows`.
  static HotRows of(std::span<const std::int64_t> sorted, std::uint64_t num_rows) {
    HotRows rows;
    rows.size_ = sorted.size();
    rows.words_.resize(num_rows / 64 + 1);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const auto row = static_cast<std::uint64_t>(sorted[i]);
      if (row >= num_rows || (i > 0 && sorted[i - 1] >= sorted[i]))
        throw std::invalid_argument("hot rows must be sorted, distinct, and exist");
      rows.words_[row / 64].bits |= std::uint64_t{1} << row % 64;
    }
    std::uint64_t before = 0;
    for (Word& word : rows.words_) {
      word.before = before;
      before += static_cast<std::uint64_t>(std::popcount(word.bits));
    }
    return rows;
  }

  std::uint64_t size() const { return size_; }
  bool is_first() const { return words_.empty(); }

  /// Where the row is among the hot ones, or kCold.
  std::uint64_t place_of(std::uint64_t row) const {
    if (is_first()) return row < size_ ? row : kCold;
    const Word& word = words_[row / 64];
    const std::uint64_t bit = std::uint64_t{1} << row % 64;
    if ((word.bits & bit) == 0) return kCold;
    return word.before + static_cast<std::uint64_t>(std::popcount(word.bits & (bit - 1)));
  }

  std::size_t bytes() const { return words_.capacity() * sizeof(Word); }
  /// What rows that are not the first need, of a matrix with so many.
  static std::size_t bytes_for(std::uint64_t num_rows) {
    return static_cast<std::size_t>(num_rows / 64 + 1) * sizeof(Word);
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint64_t before = 0;  // how many hot rows come before these
  };

  std::uint64_t size_ = 0;
  std::vector<Word> words_;  // none for the first rows
};

}  // namespace graphmount
