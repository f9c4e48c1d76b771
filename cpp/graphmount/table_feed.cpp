#include "graphmount/table_feed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "graphmount/ids.hpp"
#include "graphmount/parallel.hpp"

namespace graphmount {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

FeedBudget divide_memory(const FeatureMatrix& matrix, const FeedOptions& options) {
  const std::uint64_t row_bytes = std::max<std::uint64_t>(matrix.row_bytes(), 1);
  const std::uint64_t num_rows = matrix.num_rows();
  if (num_rows * row_bytes <= options.memory) return {num_rows, 0};
  const auto take = [](std::uint64_t memory, std::uint64_t bytes) {
    return memory - std::min(memory, bytes);
  };
  // What is there whatever the division: the maps of hot rows, and of rows that are announced.
  const std::uint64_t memory =
      take(take(options.memory, options.hottest.empty() ? 0 : num_rows / 4),
           RowWindow::bytes_for(0, options.num_announced, num_rows));
  const double per_slot =
      static_cast<double>(row_bytes) +
      static_cast<double>(RowWindow::bytes_for(1 << 20, 0, 0)) / static_cast<double>(1 << 20);
  const auto num_slots =
      static_cast<std::size_t>(std::min(static_cast<double>(memory) * options.slot_share / per_slot,
                                        static_cast<double>(UINT32_MAX / 2)));
  const auto slot_bytes = static_cast<std::uint64_t>(static_cast<double>(num_slots) * per_slot);
  std::uint64_t num_hot = take(memory, slot_bytes) / row_bytes;
  if (!options.hottest.empty()) num_hot = std::min<std::uint64_t>(num_hot, options.hottest.size());
  return {std::min(num_hot, num_rows), num_slots};
}

TableFeed::TableFeed(const FeatureMatrix& matrix, const FeedOptions& options)
    : matrix_(&matrix),
      row_bytes_(static_cast<std::size_t>(matrix.row_bytes())),
      budget_(divide_memory(matrix, options)),
      slot_bytes_(budget_.num_slots * row_bytes_),
      window_(make_window()),
      reader_kind_(options.reader) {
  load_hot(options.hottest);
  reader_ = std::make_unique<ReadThread>(make_row_reader(matrix, reader_kind_));
}

RowWindow TableFeed::make_window() const {
  constexpr std::uint64_t kBlockBytes = 4096;  // what a disk reads at least
  // Without slots and cold rows there is nothing to keep books of.
  const std::uint64_t num_rows = budget_.num_hot == matrix_->num_rows() ? 0 : matrix_->num_rows();
  return {budget_.num_slots, num_rows, RowBlocks(row_bytes_, kBlockBytes)};
}

void TableFeed::load_hot(std::vector<std::int64_t> hottest) {
  const auto num_hot = static_cast<std::size_t>(budget_.num_hot);
  if (!hottest.empty() && num_hot < matrix_->num_rows()) {
    require_ids(hottest, matrix_->num_rows(), "row");
    hottest.resize(num_hot);
    std::sort(hottest.begin(), hottest.end());
    hottest.erase(std::unique(hottest.begin(), hottest.end()), hottest.end());
    hot_ = HotRows::of(hottest, matrix_->num_rows());
  } else {
    hottest.clear();
    hot_ = HotRows::first(num_hot);
  }
  hot_bytes_.resize(static_cast<std::size_t>(hot_.size()) * row_bytes_);
  if (hot_.size() == 0 || row_bytes_ == 0) return;
  const auto reader = make_row_reader(*matrix_, reader_kind_);
  constexpr std::size_t kRowsAtOnce = 1 << 16;
  std::vector<RowRead> reads;
  for (std::size_t first = 0; first < hot_.size(); first += kRowsAtOnce) {
    reads.clear();
    for (std::size_t i = first; i < std::min<std::size_t>(first + kRowsAtOnce, hot_.size()); ++i) {
      const std::uint64_t row = hottest.empty() ? i : static_cast<std::uint64_t>(hottest[i]);
      reads.push_back({row, hot_bytes_.data() + i * row_bytes_});
    }
    reader->read(reads);
  }
}

void TableFeed::forget_announced() {
  if (window_.num_announced() != 0) window_ = make_window();
}

void TableFeed::copy_hot(std::span<const std::int64_t> ids, std::byte* out) const {
  constexpr std::int64_t kAhead = 16;
  const auto count = static_cast<std::int64_t>(ids.size());
  parallel_for(count, balanced_grain(count, 512), [&](std::int64_t begin, std::int64_t end) {
    const auto source_of = [&](std::int64_t i) -> const std::byte* {
      const auto row = static_cast<std::uint64_t>(ids[static_cast<std::size_t>(i)]);
      const std::uint64_t place = hot_.place_of(row);
      return place == HotRows::kCold ? nullptr : hot_bytes_.data() + place * row_bytes_;
    };
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end)
        if (const std::byte* ahead = source_of(i + kAhead))
          for (std::size_t at = 0; at < std::min<std::size_t>(row_bytes_, 1024); at += 64)
            __builtin_prefetch(ahead + at);
      if (const std::byte* source = source_of(i))
        std::memcpy(out + static_cast<std::size_t>(i) * row_bytes_, source, row_bytes_);
    }
  });
}

void TableFeed::fill(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out) {
  try {
    fill_planned(ids, cold, out);
  } catch (...) {
    // Slots that were to be filled have not been.
    window_ = make_window();
    throw;
  }
}

void TableFeed::fill_planned(std::span<const std::int64_t> ids, const ColdRows& cold,
                             std::byte* out) {
  window_.plan(cold.rows(), plan_);
  const auto place_at = [&](std::size_t place) { return out + place * row_bytes_; };
  // Before reads begin: they may go to slots that these come from.
  auto start = Clock::now();
  for (const SlotMove& hit : plan_.hits)
    std::memcpy(place_at(cold.first_place(hit.place)), slot_bytes_.data() + hit.slot * row_bytes_,
                row_bytes_);
  stats_.copy_seconds += seconds_since(start);
  reads_.clear();
  for (const std::uint32_t index : plan_.reads)
    reads_.push_back({cold.rows()[index], place_at(cold.first_place(index))});
  for (const Rider& rider : plan_.riders)
    reads_.push_back({rider.row, slot_bytes_.data() + rider.slot * row_bytes_});
  std::sort(reads_.begin(), reads_.end(),
            [](const RowRead& one, const RowRead& other) { return one.row < other.row; });
  reader_->start(reads_);

  start = Clock::now();
  try {
    copy_hot(ids, out);
  } catch (...) {
    reader_->wait();
    throw;
  }
  stats_.copy_seconds += seconds_since(start);

  const auto waited = Clock::now();
  reader_->wait();
  stats_.wait_seconds += seconds_since(waited);
  for (const SlotMove& keep : plan_.keeps)
    std::memcpy(slot_bytes_.data() + keep.slot * row_bytes_, place_at(cold.first_place(keep.place)),
                row_bytes_);
  if (cold.num_places() > cold.rows().size())
    for (std::size_t i = 0; i < cold.rows().size(); ++i)
      cold.for_places(i, [&](std::uint32_t place) {
        const std::byte* first = place_at(cold.first_place(i));
        if (place_at(place) != first) std::memcpy(place_at(place), first, row_bytes_);
      });
  stats_.rows += ids.size();
  stats_.hot_rows += ids.size() - cold.num_places();
  stats_.window_rows += plan_.hits.size() + cold.num_places() - cold.rows().size();
  stats_.read_rows += plan_.reads.size();
  stats_.ridden_rows += plan_.riders.size();
}

FeedStats TableFeed::stats() const {
  FeedStats stats = stats_;
  stats.reads = reader_->stats();
  return stats;
}

std::size_t TableFeed::bytes() const {
  return hot_bytes_.bytes() + hot_.bytes() + slot_bytes_.bytes() + window_.bytes();
}

}  // namespace graphmount
