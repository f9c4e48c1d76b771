#include "graphmount/loading/table_feed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "graphmount/base/ids.hpp"
#include "graphmount/system/threads/parallel.hpp"

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
  if (budget_.chunk_rows != 0) {
    std::vector<std::unique_ptr<RowReader>> readers;
    for (std::size_t i = 0; i < kSweepThreads; ++i) readers.push_back(make_reader());
    sweep_ = std::make_unique<RowSweep>(std::move(readers), matrix.num_rows(), row_bytes_,
                                        budget_.chunk_rows);
    stats_.is_swept = true;
  } else if (hot_.size() < matrix.num_rows()) {
    for (Fill& fill : fills_) fill.reader = std::make_unique<ReadThread>(make_reader());
  }
  stats_.bytes = bytes();
}

std::unique_ptr<RowReader> TableFeed::make_reader() const {
  return make_row_reader(
      *matrix_, reader_kind_,
      {.direct = {}, .depth = budget_.depth, .is_dense = budget_.has_long_reads});
}

FeedBudget TableFeed::divide(const FeedOptions& options) const {
  FeedNeeds needs{.memory = options.memory,
                  .num_rows = matrix_->num_rows(),
                  .row_bytes = row_bytes_,
                  .hot_is_prefix = options.hottest.empty(),
                  .slot_share = options.slot_share,
                  .window = options.window,
                  // With some room for what goes with a read.
                  .read_bytes = limits_for(kBlockBytes).most_bytes + kBlockBytes,
                  .long_read_bytes =
                      row_bytes_ == 0 ? 0 : limits_for(kBlockBytes, true).most_bytes + kBlockBytes,
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
  const auto reader = make_reader();
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

void TableFeed::arrive() {
  if (sweep_ == nullptr) return;
  const auto waited = Clock::now();
  swept_ = sweep_->wait();
  stats_.wait_seconds += seconds_since(waited);
}

void TableFeed::copy_swept(const Fill& fill) const {
  const auto count = static_cast<std::int64_t>(fill.cold->rows().size());
  parallel_for(count, balanced_grain(count, 512), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      fill.cold->for_places(i, [&](std::uint32_t place) {
        std::memcpy(fill.row_at(place, row_bytes_), swept_.row(i), row_bytes_);
      });
  });
}

void TableFeed::start(std::span<const std::int64_t> ids, const ColdRows& cold, std::byte* out) {
  Fill& fill = fills_[num_started_ % 2];
  fill.ids = ids;
  fill.cold = &cold;
  fill.out = fill.rows = out;
  if (!conversion_.is_copy()) {
    fill.stored_rows.resize(ids.size() * row_bytes_);
    fill.rows = fill.stored_rows.data();
  }
  ++num_started_;
  if (sweep_ != nullptr) return;
  window_.plan(cold.rows(), fill.plan);
  fill.reads.clear();
  for (const std::uint32_t index : fill.plan.reads)
    fill.reads.push_back({cold.rows()[index], fill.row_at(cold.first_place(index), row_bytes_)});
  for (const Rider& rider : fill.plan.riders)
    fill.reads.push_back({rider.row, slot_bytes_.data() + rider.slot * row_bytes_});
  std::sort(fill.reads.begin(), fill.reads.end(),
            [](const RowRead& one, const RowRead& other) { return one.row < other.row; });
  if (fill.reader) fill.reader->start(fill.reads);
}

void TableFeed::copy() {
  const auto start = Clock::now();
  const Fill& fill = fills_[(num_started_ - 1) % 2];
  if (sweep_ != nullptr) copy_swept(fill);
  for (const SlotMove& hit : fill.plan.hits)
    std::memcpy(fill.row_at(fill.cold->first_place(hit.place), row_bytes_),
                slot_bytes_.data() + hit.slot * row_bytes_, row_bytes_);
  copy_hot(fill.ids, fill.rows);
  stats_.copy_seconds += seconds_since(start);
}

void TableFeed::finish() {
  Fill& fill = fills_[num_finished_ % 2];
  const ColdRows& cold = *fill.cold;
  const auto waited = Clock::now();
  if (fill.reader) fill.reader->wait();
  stats_.wait_seconds += seconds_since(waited);
  const auto start = Clock::now();
  const bool is_last = num_started_ == num_finished_ + 1;
  for (const SlotMove& keep : fill.plan.keeps)
    if (is_last || window_.is_kept(keep.slot, cold.rows()[keep.place]))
      std::memcpy(slot_bytes_.data() + keep.slot * row_bytes_,
                  fill.row_at(cold.first_place(keep.place), row_bytes_), row_bytes_);
  if (sweep_ == nullptr && cold.num_places() > cold.rows().size())
    for (std::size_t i = 0; i < cold.rows().size(); ++i)
      cold.for_places(i, [&](std::uint32_t place) {
        const std::byte* first = fill.row_at(cold.first_place(i), row_bytes_);
        std::byte* other = fill.row_at(place, row_bytes_);
        if (other != first) std::memcpy(other, first, row_bytes_);
      });
  if (!conversion_.is_copy()) convert(fill.rows, fill.out, fill.ids.size());
  stats_.copy_seconds += seconds_since(start);
  count(fill);
  if (sweep_ != nullptr) sweep_->release();
  ++num_finished_;
}

void TableFeed::count(Fill& fill) {
  const ColdRows& cold = *fill.cold;
  stats_.rows += fill.ids.size();
  stats_.hot_rows += fill.ids.size() - cold.num_places();
  stats_.window_rows += fill.plan.hits.size() + cold.num_places() - cold.rows().size();
  stats_.read_rows += fill.plan.reads.size();
  stats_.ridden_rows += fill.plan.riders.size();
  if (sweep_ != nullptr) {
    stats_.window_rows += swept_.shared_rows;
    stats_.read_rows += swept_.read_rows;
    stats_.reads = sweep_->stats();
    stats_.bytes = bytes();
  }
  if (!fill.reader) return;
  // The other reader may be at work; what it has done counts when it is done.
  fill.read_stats = fill.reader->stats();
  fill.reader_bytes = fill.reader->bytes();
  stats_.reads = {};
  for (const Fill& each : fills_) stats_.reads += each.read_stats;
  stats_.bytes = bytes();
}

void TableFeed::abandon() {
  for (Fill& fill : fills_) {
    try {
      if (fill.reader) fill.reader->wait();
    } catch (...) {  // nobody wants the rows any more
    }
  }
  if (sweep_ != nullptr) sweep_->clear();
  if (num_started_ == num_finished_ && window_.num_announced() == 0) return;
  // Slots that were to be filled have not been.
  window_ = make_window();
  num_finished_ = num_started_;
}

std::size_t TableFeed::bytes() const {
  std::size_t sum = hot_bytes_.bytes() + hot_.bytes() + slot_bytes_.bytes() + window_.bytes();
  for (const Fill& fill : fills_) sum += fill.reader_bytes;
  if (sweep_ != nullptr) sum += sweep_->bytes();
  return sum;
}

}  // namespace graphmount
