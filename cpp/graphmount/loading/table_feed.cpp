#include "graphmount/loading/table_feed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// For each row that is wanted, 0 if it is one of those that are given, else a number above all.
std::vector<std::uint64_t> ranks_among(const SharedHotRows& given, std::size_t row_bytes,
                                       std::span<const std::int64_t> wanted) {
  const std::vector<std::int64_t> ids =
      given.is_first ? std::vector<std::int64_t>() : given.ids(row_bytes);
  std::vector<std::uint64_t> ranks;
  for (const std::int64_t row : wanted) {
    const bool is_given = given.is_first ? static_cast<std::uint64_t>(row) < given.count
                                         : std::binary_search(ids.begin(), ids.end(), row);
    ranks.push_back(is_given ? 0 : UINT64_MAX);
  }
  return ranks;
}

}  // namespace

TableFeed::TableFeed(const FeatureMatrix& matrix, const FeedOptions& options)
    : matrix_(&matrix),
      space_(options.space),
      row_bytes_(static_cast<std::size_t>(matrix.row_bytes())),
      dtype_(options.dtype.value_or(matrix.matrix().dtype)),
      scales_(matrix.scales() != nullptr && dtype_ != matrix.matrix().dtype ? matrix.read_scales()
                                                                            : std::vector<float>()),
      conversion_(matrix.matrix().dtype, dtype_, matrix.matrix().columns,
                  scales_.empty() ? nullptr : scales_.data()),
      budget_(divide(options)),
      reader_kind_(options.reader),
      aggregation_(options.aggregation),
      sharers_(options.sharers) {
  if (aggregates() && (space_.kind != IdSpace::Kind::kNodes || dtype_ != DType::kFloat32))
    throw std::invalid_argument("rows of " + std::string(name_of(space_)) + " as " +
                                std::string(traits_of(dtype_).name) +
                                " cannot be aggregated: that is for rows of nodes as float32");
  load_hot(options);
  cache_ = make_cache(options.threads);
  stats_.is_swept = budget_.chunk_rows != 0;
  stats_.shared_bytes = shared_ ? shared_->memory->bytes().size() : 0;
  stats_.bytes = bytes();
}

void TableFeed::require_rows(std::span<const std::int64_t> ids) const {
  try {
    require_ids(ids, matrix_->num_rows(), "row");
  } catch (const IdError& error) {
    throw IdError(matrix_->mount().file().path() + ": " + error.what() +
                  "; the table has fewer rows than the graph has " + std::string(name_of(space_)) +
                  ": it is of another graph");
  }
}

std::unique_ptr<RowReader> TableFeed::make_reader() const {
  return make_row_reader(
      *matrix_, reader_kind_,
      {.direct = {}, .depth = budget_.depth, .is_dense = budget_.has_long_reads});
}

std::unique_ptr<RowCache> TableFeed::make_cache(std::shared_ptr<ReadThreads> threads) const {
  std::vector<std::unique_ptr<RowReader>> readers;
  while (hot_.size() < matrix_->num_rows() && readers.size() < kReadersPerFeed)
    readers.push_back(make_reader());
  return make_row_cache(std::move(readers),
                        {.num_rows = matrix_->num_rows(),
                         .row_bytes = row_bytes_,
                         .chunk_rows = budget_.chunk_rows,
                         .num_slots = budget_.num_slots,
                         .num_known = budget_.num_known},
                        std::move(threads));
}

/// Throws std::invalid_argument unless the memory can be that of rows of this table.
void TableFeed::require_given(const SharedHotRows& given) const {
  if (given.count <= matrix_->num_rows() &&
      given.memory->bytes().size() ==
          SharedHotRows::bytes_for(given.count, row_bytes_, given.is_first))
    return;
  throw std::invalid_argument(say("the ", given.memory->bytes().size(),
                                  " bytes of another process are not ", given.count, " rows of ",
                                  matrix_->mount().file().path()));
}

FeedBudget TableFeed::divide(const FeedOptions& options) const {
  if (options.sharers == 0) throw std::invalid_argument("sharers must be at least 1");
  if (options.given) require_given(*options.given);
  FeedNeeds needs{
      .memory = options.memory,
      .num_rows = matrix_->num_rows(),
      .row_bytes = row_bytes_,
      .hot_is_prefix = options.given ? options.given->is_first : options.hottest.empty(),
      .sharers = options.sharers,
      .slot_share = options.slot_share,
      .window = options.window,
      // With some room for what goes with a read.
      .read_bytes = limits_for(kDiskBlockBytes).most_bytes + kDiskBlockBytes,
      .long_read_bytes =
          row_bytes_ == 0 ? 0 : limits_for(kDiskBlockBytes, true).most_bytes + kDiskBlockBytes,
      .ranks = {}};
  if (options.given) {
    needs.num_given = options.given->count;
    needs.ranks = ranks_among(*options.given, row_bytes_, options.trial);
  } else if (options.hottest.empty()) {
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

void TableFeed::load_hot(const FeedOptions& options) {
  if (options.given) return take_hot(*options.given);
  const auto num_hot = static_cast<std::size_t>(budget_.num_hot);
  std::vector<std::int64_t> hottest = options.hottest;
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
  const bool is_first = hottest.empty();
  if (sharers_ > 1 && hot_.size() != 0 && row_bytes_ != 0) {
    const auto memory = SealedMemory::make(
        SharedHotRows::bytes_for(hot_.size(), row_bytes_, is_first), [&](std::span<std::byte> out) {
          read_hot(hottest, out.data());
          if (!is_first)
            std::memcpy(out.data() + SharedHotRows::ids_at(hot_.size(), row_bytes_), hottest.data(),
                        hottest.size() * sizeof(std::int64_t));
        });
    shared_ = {memory, hot_.size(), is_first};
    hot_bytes_ = memory->bytes().data();
    return;
  }
  own_hot_.resize(static_cast<std::size_t>(hot_.size()) * row_bytes_);
  hot_bytes_ = own_hot_.data();
  read_hot(hottest, own_hot_.data());
}

void TableFeed::take_hot(const SharedHotRows& given) {
  hot_ = given.is_first ? HotRows::first(given.count)
                        : HotRows::of(given.ids(row_bytes_), matrix_->num_rows());
  shared_ = given;
  hot_bytes_ = given.memory->bytes().data();
}

/// The hot rows: those with these ids, or the first.
void TableFeed::read_hot(std::span<const std::int64_t> ids, std::byte* out) const {
  if (hot_.size() == 0 || row_bytes_ == 0) return;
  const auto reader = make_reader();
  constexpr std::size_t kRowsAtOnce = 1 << 16;
  std::vector<RowRead> reads;
  for (std::size_t first = 0; first < hot_.size(); first += kRowsAtOnce) {
    reads.clear();
    for (std::size_t i = first; i < std::min<std::size_t>(first + kRowsAtOnce, hot_.size()); ++i) {
      const std::uint64_t row = ids.empty() ? i : static_cast<std::uint64_t>(ids[i]);
      reads.push_back({row, out + i * row_bytes_});
    }
    reader->read(reads);
  }
}

std::size_t TableFeed::bytes() const {
  const std::size_t part =
      static_cast<std::size_t>((stats_.shared_bytes + sharers_ - 1) / sharers_);
  return own_hot_.bytes() + part + hot_.bytes() + cache_->bytes();
}

void TableFeed::copy_hot(std::span<const std::int64_t> ids, std::byte* out) const {
  const std::size_t ahead_rows = fetched_rows(row_bytes_);
  const std::size_t grain = balanced_grain(ids.size(), 512);
  parallel_for(ids.size(), grain, [&](std::size_t begin, std::size_t end) {
    const auto source_of = [&](std::size_t i) -> const std::byte* {
      const std::uint64_t place = hot_.place_of(static_cast<std::uint64_t>(ids[i]));
      return place == HotRows::kCold ? nullptr : hot_bytes_ + place * row_bytes_;
    };
    for (std::size_t i = begin; i < end; ++i) {
      if (i + ahead_rows < end)
        if (const std::byte* ahead = source_of(i + ahead_rows)) prefetch_row(ahead, row_bytes_);
      if (const std::byte* source = source_of(i))
        std::memcpy(out + i * row_bytes_, source, row_bytes_);
    }
  });
}

/// Finds where each row of a batch is or will be when all have been read.
void TableFeed::find_rows(Fill& fill) const {
  fill.row_of_place.resize(fill.ids.size());
  const std::size_t grain = balanced_grain(fill.ids.size(), 4096);
  parallel_each(fill.ids.size(), grain, [&](std::size_t i) {
    const std::uint64_t place = hot_.place_of(static_cast<std::uint64_t>(fill.ids[i]));
    if (place != HotRows::kCold) fill.row_of_place[i] = hot_bytes_ + place * row_bytes_;
  });
  const ColdRows& cold = *fill.rows.cold;
  for (std::size_t i = 0; i < cold.rows().size(); ++i)
    cold.for_places(
        i, [&, row = fill.rows.row_at(i)](std::uint32_t place) { fill.row_of_place[place] = row; });
}

void TableFeed::convert(const std::byte* rows, std::byte* out, std::size_t count) const {
  parallel_each(count, balanced_grain(count, 512), [&](std::size_t i) {
    conversion_.convert(rows + i * row_bytes_, out + i * out_row_bytes());
  });
}

void TableFeed::aggregate(const Fill& fill) const {
  sum_neighbors(fill.out.edges,
                {.stored = fill.row_of_place.span(),
                 .stored_bytes = row_bytes_,
                 .conversion = &conversion_,
                 .columns = static_cast<std::size_t>(matrix_->matrix().columns),
                 .own = reinterpret_cast<float*>(fill.out.rows),
                 .result = reinterpret_cast<float*>(fill.out.aggregated)},
                aggregation_);
}

void TableFeed::arrive() {
  const auto waited = Clock::now();
  cache_->arrive();
  stats_.wait_seconds += seconds_since(waited);
}

void TableFeed::start(std::span<const std::int64_t> ids, const ColdRows& cold,
                      const FeedOutput& out) {
  Fill& fill = fills_[num_started_++ % 2];
  fill.ids = ids;
  fill.out = out;
  std::byte* rows = out.rows;
  if (aggregates() || !conversion_.is_copy()) {
    fill.stored_rows.resize((aggregates() ? cold.rows().size() : ids.size()) * row_bytes_);
    rows = fill.stored_rows.data();
  }
  fill.rows = {&cold, rows, row_bytes_, aggregates()};
  cache_->start(fill.rows);
}

void TableFeed::copy() {
  const auto start = Clock::now();
  Fill& fill = fills_[(num_started_ - 1) % 2];
  cache_->copy();
  if (aggregates())
    find_rows(fill);
  else
    copy_hot(fill.ids, fill.rows.rows);
  stats_.copy_seconds += seconds_since(start);
}

void TableFeed::finish() {
  const Fill& fill = fills_[num_finished_ % 2];
  const auto waited = Clock::now();
  cache_->wait();
  stats_.wait_seconds += seconds_since(waited);
  const auto start = Clock::now();
  cache_->finish(stats_);
  if (aggregates())
    aggregate(fill);
  else if (!conversion_.is_copy())
    convert(fill.rows.rows, fill.out.rows, fill.ids.size());
  stats_.copy_seconds += seconds_since(start);
  stats_.rows += fill.ids.size();
  stats_.hot_rows += fill.ids.size() - fill.rows.cold->num_places();
  stats_.bytes = bytes();
  ++num_finished_;
}

void TableFeed::abandon() {
  cache_->abandon();
  num_finished_ = num_started_;
}

}  // namespace graphmount
