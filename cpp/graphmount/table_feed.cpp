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

constexpr std::uint64_t kBlockBytes = 4096;  // what a disk reads at least

}  // namespace

TableFeed::TableFeed(const FeatureMatrix& matrix, const FeedOptions& options)
    : matrix_(&matrix),
      row_bytes_(static_cast<std::size_t>(matrix.row_bytes())),
      dtype_(options.dtype.value_or(matrix.matrix().dtype)),
      scales_(matrix.scales() != nullptr && dtype_ != matrix.matrix().dtype ? matrix.read_scales()
                                                                            : std::vector<float>()),
      conversion_(matrix.matrix().dtype, dtype_, matrix.matrix().columns,
                  scales_.empty() ? nullptr : scales_.data()),
      budget_(divide(options)),
      slot_bytes_(budget_.num_slots * row_bytes_),
      window_(make_window()),
      reader_kind_(options.reader) {
  load_hot(options.hottest);
  if (hot_.size() < matrix.num_rows())
    reader_ = std::make_unique<ReadThread>(
        make_row_reader(matrix, reader_kind_, {.direct = {}, .depth = budget_.depth}));
}

FeedBudget TableFeed::divide(const FeedOptions& options) const {
  FeedNeeds needs{.memory = options.memory,
                  .num_rows = matrix_->num_rows(),
                  .row_bytes = row_bytes_,
                  .hot_is_prefix = options.hottest.empty(),
                  .slot_share = options.slot_share,
                  .window = options.window,
                  .read_bytes = limits_for(kBlockBytes).most_bytes,
                  .ranks = {}};
  if (options.hottest.empty()) {
    needs.ranks.assign(options.trial.begin(), options.trial.end());
  } else {
    needs.most_hot = options.hottest.size();
    std::vector<std::int64_t> rows = options.trial;
    std::sort(rows.begin(), rows.end());
    needs.ranks.assign(rows.size(), UINT64_MAX);
    for (std::size_t rank = 0; rank < options.hottest.size(); ++rank) {
      const auto [begin, end] = std::equal_range(rows.begin(), rows.end(), options.hottest[rank]);
      std::fill(needs.ranks.begin() + (begin - rows.begin()),
                needs.ranks.begin() + (end - rows.begin()), rank);
    }
  }
  std::sort(needs.ranks.begin(), needs.ranks.end());
  return divide_memory(needs);
}

RowWindow TableFeed::make_window() const {
  return {budget_.num_slots, matrix_->num_rows(), RowBlocks(row_bytes_, kBlockBytes),
          budget_.num_known};
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
  const auto reader =
      make_row_reader(*matrix_, reader_kind_, {.direct = {}, .depth = budget_.depth});
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

void TableFeed::convert(const std::byte* rows, std::byte* out, std::size_t count) const {
  const auto num_rows = static_cast<std::int64_t>(count);
  parallel_for(num_rows, balanced_grain(num_rows, 512), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      conversion_.convert(rows + i * row_bytes_, out + i * out_row_bytes());
  });
}

void TableFeed::fill(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out) {
  try {
    if (conversion_.is_copy()) return fill_planned(ids, cold, out);
    stored_rows_.resize(ids.size() * row_bytes_);
    fill_planned(ids, cold, stored_rows_.data());
    convert(stored_rows_.data(), out, ids.size());
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
  if (reader_) reader_->start(reads_);

  start = Clock::now();
  try {
    copy_hot(ids, out);
  } catch (...) {
    if (reader_) reader_->wait();
    throw;
  }
  stats_.copy_seconds += seconds_since(start);

  const auto waited = Clock::now();
  if (reader_) reader_->wait();
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
  if (reader_) stats.reads = reader_->stats();
  return stats;
}

std::size_t TableFeed::bytes() const {
  return hot_bytes_.bytes() + hot_.bytes() + slot_bytes_.bytes() + window_.bytes() +
         (reader_ ? reader_->bytes() : 0);
}

}  // namespace graphmount
