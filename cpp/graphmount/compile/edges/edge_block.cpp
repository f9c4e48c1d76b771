#include "graphmount/compile/edges/edge_block.hpp"

namespace graphmount {

std::size_t EdgeBlock::bytes() const {
  return narrow_.bytes() + wide_.bytes() + narrow_rows_.bytes() + wide_rows_.bytes() +
         weights_.bytes() + times_.bytes() + begins_.capacity() * sizeof(begins_[0]);
}

// Rows of a block mostly lie near each other, though not always in order.
void EdgeBlock::narrow_rows() {
  if (!parts_.rows || count_ == 0) return;
  const auto [first, last] = std::minmax_element(wide_rows_.data(), wide_rows_.data() + count_);
  first_row_ = *first;
  largest_row_ = *last;
  if (largest_row_ - first_row_ > UINT32_MAX) return;
  narrow_rows_.resize(count_);
  for (std::size_t i = 0; i < count_; ++i)
    narrow_rows_[i] = static_cast<std::uint32_t>(wide_rows_[i] - first_row_);
  wide_rows_.release();
}

void EdgeBlock::partition(const Cells& cells) {
  begins_.assign(cells.count + 1, 0);
  const auto run = [&](auto& pairs) {
    std::vector<std::uint32_t> next(cells.count + 1, 0);
    for (std::size_t i = 0; i < count_; ++i) ++next[cells.of(pairs[i].owner)];
    std::uint32_t total = 0;
    for (std::size_t cell = 0; cell < cells.count; ++cell) {
      begins_[cell] = total;
      total += std::exchange(next[cell], total);
    }
    begins_[cells.count] = total;
    // Memory changes hands between blocks and these, and is not asked for anew each time.
    thread_local std::remove_reference_t<decltype(pairs)> new_pairs;
    thread_local Buffer<std::uint32_t> new_narrow_rows;
    thread_local Buffer<std::uint64_t> new_wide_rows;
    thread_local Buffer<float> new_weights;
    thread_local Buffer<std::int64_t> new_times;
    new_pairs.resize(count_);
    new_narrow_rows.resize(narrow_rows_.empty() ? 0 : count_);
    new_wide_rows.resize(wide_rows_.empty() ? 0 : count_);
    new_weights.resize(weights_.empty() ? 0 : count_);
    new_times.resize(times_.empty() ? 0 : count_);
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint32_t place = next[cells.of(pairs[i].owner)]++;
      new_pairs[place] = pairs[i];
      if (!narrow_rows_.empty()) new_narrow_rows[place] = narrow_rows_[i];
      if (!wide_rows_.empty()) new_wide_rows[place] = wide_rows_[i];
      if (!weights_.empty()) new_weights[place] = weights_[i];
      if (!times_.empty()) new_times[place] = times_[i];
    }
    std::swap(pairs, new_pairs);
    if (!narrow_rows_.empty()) std::swap(narrow_rows_, new_narrow_rows);
    if (!wide_rows_.empty()) std::swap(wide_rows_, new_wide_rows);
    if (!weights_.empty()) std::swap(weights_, new_weights);
    if (!times_.empty()) std::swap(times_, new_times);
  };
  if (is_wide())
    run(wide_);
  else
    run(narrow_);
}

EdgePiece EdgeBlock::make_piece(std::size_t begin, std::size_t end) const {
  const auto from = [&](const auto& values) {
    return values.empty() ? nullptr : values.data() + begin;
  };
  return {.count = end - begin,
          .narrow = from(narrow_),
          .wide = from(wide_),
          .narrow_rows = from(narrow_rows_),
          .wide_rows = from(wide_rows_),
          .first_row = first_row_,
          .weights = from(weights_),
          .times = from(times_)};
}

EdgePiece EdgeBlock::piece(std::size_t first_cell, std::size_t end_cell) const {
  return make_piece(begins_[first_cell], begins_[end_cell]);
}

}  // namespace graphmount
