// What is left of the numbers below a size without some ranges of them, by rank.
//
// The ranges come in ascending order and do not overlap. Memory is that of the ranges, and it is
// kept from one use to the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmount {

class RemainingNumbers {
 public:
  /// Everything below `size`.
  void reset(std::uint64_t size) {
    size_ = size;
    end_ = 0;
    excluded_ = 0;
    ranks_.clear();
    skips_.clear();
  }

  /// Takes out [begin, end), unless it begins before the end of the last, or ends behind the size;
  /// then the result is false, and nothing changes.
  bool exclude(std::uint64_t begin, std::uint64_t end) {
    if (begin < end_ || begin > end || end > size_) return false;
    end_ = end;
    if (begin == end) return true;
    ranks_.push_back(begin - excluded_);
    excluded_ += end - begin;
    skips_.push_back(excluded_);
    return true;
  }

  /// How many numbers are left.
  std::uint64_t count() const { return size_ - excluded_; }

  /// The number that has `rank` of the others below it; `rank` is below the count.
  std::uint64_t at(std::uint64_t rank) const {
    // A range is passed if not more than `rank` of what is left lies below it.
    const auto behind = std::upper_bound(ranks_.begin(), ranks_.end(), rank);
    const auto passed = static_cast<std::size_t>(behind - ranks_.begin());
    return passed == 0 ? rank : rank + skips_[passed - 1];
  }

 private:
  std::uint64_t size_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t excluded_ = 0;
  std::vector<std::uint64_t> ranks_;  // for each range: what is left below it
  std::vector<std::uint64_t> skips_;  // for each range: what is taken out up to its end
};

}  // namespace graphmount
