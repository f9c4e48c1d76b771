#include "graphmount/compile/row_block.hpp"

#include <algorithm>
#include <cstring>

#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kListedNodes = 5;
constexpr std::size_t kRowsAtOnce = 16384;
constexpr std::uint64_t kParallelBytes = 256 << 10;  // below this, a second thread does not pay

}  // namespace

void NodeTally::add(std::int64_t node) {
  ++count;
  if (first.size() < kListedNodes) first.push_back(node);
}

RowBlock::RowBlock(std::uint64_t row_bytes, std::uint64_t capacity, Repeated repeated)
    : row_bytes_(row_bytes),
      policy_(repeated),
      matrix_(std::make_unique_for_overwrite<std::byte[]>(capacity * row_bytes)),
      has_row_(std::make_unique_for_overwrite<bool[]>(capacity)),
      slots_(kRowsAtOnce) {}

void RowBlock::reset(std::uint64_t first, std::uint64_t count) {
  first_ = first;
  count_ = count;
  std::fill_n(has_row_.get(), count, false);
}

void RowBlock::place(const PlacedRows& rows) {
  const auto index_of = [&](std::size_t i) { return rows.order ? rows.order[i] : i; };
  for (std::size_t begin = 0; begin < rows.count; begin += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows.count - begin);
    // One thread decides what goes where: this is what the result depends on.
    bool overwrites = false;
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t node = 0;
      std::memcpy(&node, rows.destinations + index_of(begin + i) * rows.destination_stride,
                  sizeof node);
      const std::int64_t slot = node - static_cast<std::int64_t>(first_);
      slots_[i] = slot;
      if (has_row_[static_cast<std::size_t>(slot)]) {
        repeated_.add(node);
        if (policy_ == Repeated::kKeepLast)
          overwrites = true;
        else
          slots_[i] = -1;
      }
      has_row_[static_cast<std::size_t>(slot)] = true;
    }
    // Not in parallel if two threads could meet at one place.
    const std::size_t grain = overwrites ? count : kParallelBytes / (row_bytes_ + 1) + 1;
    parallel_each(count, grain, [&](std::size_t i) {
      if (slots_[i] < 0) return;
      std::copy_n(rows.rows + index_of(begin + i) * rows.row_stride, row_bytes_,
                  matrix_.get() + static_cast<std::uint64_t>(slots_[i]) * row_bytes_);
    });
  }
}

void RowBlock::fill_missing(std::span<const std::byte> fill, NodeTally& missing) {
  for (std::uint64_t slot = 0; slot < count_; ++slot) {
    if (has_row_[slot]) continue;
    missing.add(static_cast<std::int64_t>(first_ + slot));
    if (!fill.empty()) std::memcpy(matrix_.get() + slot * row_bytes_, fill.data(), fill.size());
  }
}

}  // namespace graphmount
