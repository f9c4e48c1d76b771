// The rows of a batch that are not in the cache of hot rows: each row once, in the order of the
// file, with all its places in the batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graphmount/loading/rows/hot_rows.hpp"

namespace graphmount {

class ColdRows {
 public:
  /// `ids` are the rows that the batch needs, in its order.
  ColdRows(std::span<const std::int64_t> ids, const HotRows& hot) {
    for (std::uint32_t place = 0; place < ids.size(); ++place) {
      const auto row = static_cast<std::uint64_t>(ids[place]);
      if (hot.place_of(row) == HotRows::kCold) pairs_.emplace_back(row, place);
    }
    std::sort(pairs_.begin(), pairs_.end());
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      if (i > 0 && pairs_[i - 1].first == pairs_[i].first) continue;
      rows_.push_back(pairs_[i].first);
      starts_.push_back(i);
    }
    starts_.push_back(static_cast<std::uint32_t>(pairs_.size()));
  }

  std::span<const std::uint64_t> rows() const { return rows_; }
  /// How many places of the batch they go to.
  std::size_t num_places() const { return pairs_.size(); }

  /// The first place that a row goes to.
  std::uint32_t first_place(std::size_t index) const { return pairs_[starts_[index]].second; }

  /// Calls visit(place) for all places that a row goes to.
  template <class Visit>
  void for_places(std::size_t index, const Visit& visit) const {
    for (std::uint32_t i = starts_[index]; i < starts_[index + 1]; ++i) visit(pairs_[i].second);
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> pairs_;  // row, place; sorted
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint32_t> starts_;  // of the pairs of each row
};

}  // namespace graphmount
