#include "graphmount/compile/row_scatter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "graphmount/base/digit_sort.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kLeastMemory = 1 << 20;
constexpr std::uint64_t kAppendBytes = 16 << 20;  // at once, between two reports of progress
// Punching smaller holes costs more than it is worth.
constexpr std::uint64_t kReleaseBytes = 128 << 10;
constexpr std::uint64_t kReadBytes = 1 << 20;  // what one thread reads at once

}  // namespace

RowScatter::RowScatter(ScatterOptions options)
    : options_(std::move(options)), spill_(std::make_unique<SpillFile>(options_.tmp)) {
  if (!options_.refuse_missing && options_.fill.size() != options_.row_bytes)
    throw std::invalid_argument(say("the fill row has ", options_.fill.size(),
                                    " bytes, but a row has ", options_.row_bytes));
  const std::uint64_t memory = std::max(options_.memory, kLeastMemory);
  const std::uint64_t slot_bytes = RowBlock::slot_bytes(options_.row_bytes);
  if (options_.num_rows && *options_.num_rows <= memory / slot_bytes) {
    whole_ = std::make_unique<RowBlock>(options_.row_bytes, *options_.num_rows, options_.repeated);
    whole_->reset(0, *options_.num_rows);
    return;
  }
  // One half for records, an eighth for transfers, a quarter for the block; the rest for what is
  // kept for each bucket and run.
  bucket_shift_ =
      static_cast<int>(std::bit_width(std::max<std::uint64_t>(1, memory / 4 / slot_bytes))) - 1;
  bucket_shift_ = std::min(bucket_shift_, 31);
  most_buckets_ = std::max<std::uint64_t>(memory / 64, 1 << 16);
  record_bytes_ = sizeof(std::int64_t) + options_.row_bytes;
  capacity_ = std::clamp<std::uint64_t>(memory / 2 / (record_bytes_ + sizeof(std::uint32_t)), 1,
                                        UINT32_MAX);
  transfer_bytes_ = std::max<std::uint64_t>(memory / 8 / record_bytes_, 1) * record_bytes_;
  if (options_.num_rows && (*options_.num_rows - 1) >> bucket_shift_ >= most_buckets_)
    throw BudgetError(say(*options_.num_rows, " rows of ", options_.row_bytes,
                          " bytes cannot be sorted in ", memory,
                          " bytes of memory; pass a larger memory="));
}

void RowScatter::close() {
  whole_.reset();
  records_.reset();
  order_.reset();
  transfer_.reset();
  spill_.reset();
}

void RowScatter::require_open() const {
  if (!spill_) throw std::invalid_argument("the rows have been let go of: this was closed");
}

std::uint64_t RowScatter::num_rows() const {
  return options_.num_rows.value_or(end_);
}

void RowScatter::begin_at(std::uint64_t head) {
  require_open();
  if (options_.repeated == Repeated::kKeepLast || num_added_ > 0)
    throw std::invalid_argument("rows that are in the file cannot be replaced");
  if (options_.num_rows && head > *options_.num_rows)
    throw std::invalid_argument("there are more rows in the file than nodes");
  head_ = end_ = head;
  num_added_ = head;
  if (whole_) whole_->reset(head, *options_.num_rows - head);
}

void RowScatter::require_destinations(std::span<const std::int64_t> destinations) const {
  const std::uint64_t end =
      whole_ ? *options_.num_rows
             : std::min(options_.num_rows.value_or(INT64_MAX), most_buckets_ << bucket_shift_);
  const auto bad = std::find_if(destinations.begin(), destinations.end(), [&](std::int64_t node) {
    return static_cast<std::uint64_t>(node) >= end;  // a negative one is huge
  });
  if (bad == destinations.end()) return;
  const std::string place =
      say("row ", num_added_ + static_cast<std::uint64_t>(bad - destinations.begin()),
          " is for node ", *bad);
  if (options_.num_rows)
    throw SourceError(
        say(place, ", which does not exist: there are ", *options_.num_rows, " nodes"));
  if (*bad < 0) throw SourceError(place + ", but nodes are numbered from 0");
  throw SourceError(place +
                    ": so many rows cannot be sorted in this memory; pass num_nodes= to have such "
                    "rows refused, or a larger memory=");
}

void RowScatter::add(std::span<const std::int64_t> destinations, std::span<const std::byte> rows) {
  require_open();
  if (rows.size() != destinations.size() * options_.row_bytes)
    throw std::invalid_argument(
        say(rows.size(), " bytes are not ", destinations.size(), " rows of ", options_.row_bytes));
  require_destinations(destinations);
  for (const std::int64_t node : destinations)
    end_ = std::max(end_, static_cast<std::uint64_t>(node) + 1);
  num_added_ += destinations.size();
  // Rows between those for nodes that have one already.
  const auto is_in_head = [&](std::int64_t node) {
    return static_cast<std::uint64_t>(node) < head_;
  };
  while (!destinations.empty()) {
    const auto next = std::find_if(destinations.begin(), destinations.end(), is_in_head);
    const auto count = static_cast<std::size_t>(next - destinations.begin());
    add_known(destinations.first(count), rows.first(count * options_.row_bytes));
    if (next == destinations.end()) return;
    repeated_in_head_.add(*next);
    destinations = destinations.subspan(count + 1);
    rows = rows.subspan((count + 1) * options_.row_bytes);
  }
}

void RowScatter::add_known(std::span<const std::int64_t> destinations,
                           std::span<const std::byte> rows) {
  if (whole_) {
    whole_->place({.destinations = std::as_bytes(destinations).data(),
                   .destination_stride = sizeof(std::int64_t),
                   .rows = rows.data(),
                   .row_stride = options_.row_bytes,
                   .count = destinations.size()});
    return;
  }
  while (!destinations.empty()) {
    if (num_records_ == capacity_) spill_records();
    const std::size_t count = std::min<std::size_t>(destinations.size(), capacity_ - num_records_);
    collect(destinations.first(count), rows.first(count * options_.row_bytes));
    destinations = destinations.subspan(count);
    rows = rows.subspan(count * options_.row_bytes);
  }
}

void RowScatter::collect(std::span<const std::int64_t> destinations,
                         std::span<const std::byte> rows) {
  // Pages that are not touched take no memory, so a few rows do not cost the whole budget.
  if (!records_) records_ = std::make_unique_for_overwrite<std::byte[]>(capacity_ * record_bytes_);
  std::byte* const end = records_.get() + num_records_ * record_bytes_;
  parallel_each(destinations.size(), kReadBytes / record_bytes_ + 1, [&](std::size_t i) {
    std::byte* const record = end + i * record_bytes_;
    std::memcpy(record, &destinations[i], sizeof(std::int64_t));
    std::copy_n(rows.data() + i * options_.row_bytes, options_.row_bytes,
                record + sizeof(std::int64_t));
  });
  num_records_ += destinations.size();
}

// Fills order_ and bucket_begins_; records of one bucket keep the order of the source.
void RowScatter::sort_records() {
  const auto bucket_of = [records = records_.get(), bytes = record_bytes_,
                          shift = bucket_shift_](std::size_t i) {
    std::uint64_t node = 0;
    std::memcpy(&node, records + i * bytes, sizeof node);
    return node >> shift;
  };
  const std::uint64_t num_buckets = end_ == 0 ? 0 : ((end_ - 1) >> bucket_shift_) + 1;
  if (!order_) order_ = std::make_unique_for_overwrite<std::uint32_t[]>(capacity_);
  sort_by_digit(num_records_, num_buckets, bucket_begins_, bucket_of,
                [order = order_.get()](std::size_t i, std::size_t place) {
                  order[place] = static_cast<std::uint32_t>(i);
                });
}

void RowScatter::spill_records() {
  if (!transfer_) transfer_ = std::make_unique_for_overwrite<std::byte[]>(transfer_bytes_);
  sort_records();
  Run run{.records = spill_->bytes(), .directory = 0, .num_buckets = bucket_begins_.size() - 1};
  const std::uint64_t at_once = transfer_bytes_ / record_bytes_;
  for (std::uint64_t begin = 0; begin < num_records_; begin += at_once) {
    const std::uint64_t count = std::min(at_once, num_records_ - begin);
    parallel_each(count, kReadBytes / record_bytes_ + 1, [&](std::size_t i) {
      std::memcpy(transfer_.get() + i * record_bytes_,
                  records_.get() + order_[begin + i] * record_bytes_, record_bytes_);
    });
    spill_->append({transfer_.get(), count * record_bytes_});
  }
  run.directory = spill_->append(std::as_bytes(std::span(bucket_begins_)));
  runs_.push_back(run);
  num_records_ = 0;
}

std::vector<RowScatter::Extent> RowScatter::extents_of(std::uint64_t bucket) const {
  std::vector<Extent> extents;
  for (const Run& run : runs_) {
    if (bucket >= run.num_buckets) continue;
    std::uint32_t range[2];
    spill_->read_at(run.directory + bucket * sizeof range[0],
                    std::as_writable_bytes(std::span(range)));
    if (range[0] == range[1]) continue;
    extents.push_back(
        {run.records + range[0] * record_bytes_, (range[1] - range[0]) * record_bytes_});
    spill_->will_need(extents.back().offset, extents.back().bytes);
  }
  return extents;
}

void RowScatter::read_extents(const std::vector<Extent>& extents, RowBlock& block) {
  // As many pieces as fit are read at once, by several threads, and placed in their order.
  std::vector<Extent> pieces;
  std::uint64_t bytes = 0;
  const auto read_and_place = [&] {
    std::vector<std::uint64_t> places;
    for (std::uint64_t place = 0; const Extent& piece : pieces) {
      places.push_back(place);
      place += piece.bytes;
    }
    parallel_each(pieces.size(), 1, [&](std::size_t i) {
      spill_->read_at(pieces[i].offset, {transfer_.get() + places[i], pieces[i].bytes});
    });
    block.place({.destinations = transfer_.get(),
                 .destination_stride = record_bytes_,
                 .rows = transfer_.get() + sizeof(std::int64_t),
                 .row_stride = record_bytes_,
                 .count = bytes / record_bytes_});
    pieces.clear();
    bytes = 0;
  };
  const std::uint64_t most = std::max<std::uint64_t>(kReadBytes / record_bytes_, 1) * record_bytes_;
  for (Extent rest : extents) {
    while (rest.bytes > 0) {
      if (bytes == transfer_bytes_) read_and_place();
      const std::uint64_t taken = std::min({rest.bytes, most, transfer_bytes_ - bytes});
      pieces.push_back({rest.offset, taken});
      bytes += taken;
      rest = {rest.offset + taken, rest.bytes - taken};
    }
  }
  read_and_place();
  for (const Extent& extent : extents)
    if (extent.bytes >= kReleaseBytes) spill_->release(extent.offset, extent.bytes);
}

ScatterSummary RowScatter::write_to(FeatureWriter& writer, const Progress& progress) {
  require_open();
  if (whole_) {
    whole_->fill_missing(options_.fill, missing_);
    throw_if_refused(*whole_);
    const auto bytes = whole_->bytes();
    for (std::uint64_t at = 0; at < bytes.size(); at += kAppendBytes) {
      writer.append(bytes.subspan(at, std::min<std::uint64_t>(kAppendBytes, bytes.size() - at)));
      if (progress)
        progress(std::min<std::uint64_t>(at + kAppendBytes, bytes.size()), bytes.size());
    }
    return {missing_.count, repeated(*whole_).count};
  }
  const std::uint64_t bucket_rows = std::uint64_t{1} << bucket_shift_;
  RowBlock block(options_.row_bytes, std::min(num_rows(), bucket_rows), options_.repeated);
  sort_records();  // the last ones stay in memory
  std::vector<Extent> extents = extents_of(head_ >> bucket_shift_);
  for (std::uint64_t first = head_; first < num_rows();) {
    const std::uint64_t bucket = first >> bucket_shift_;
    const std::uint64_t end = std::min((bucket + 1) * bucket_rows, num_rows());
    const std::vector<Extent> next = extents_of(bucket + 1);  // and the disk begins to read them
    block.reset(first, end - first);
    read_extents(extents, block);
    if (bucket + 1 < bucket_begins_.size())
      block.place({.destinations = records_.get(),
                   .destination_stride = record_bytes_,
                   .rows = records_.get() + sizeof(std::int64_t),
                   .row_stride = record_bytes_,
                   .count = bucket_begins_[bucket + 1] - bucket_begins_[bucket],
                   .order = order_.get() + bucket_begins_[bucket]});
    block.fill_missing(options_.fill, missing_);
    // Refused rows are still counted to the end, so that the error can say how many there are.
    if (!is_refused(block)) writer.append(block.bytes());
    if (progress) progress(end * options_.row_bytes, num_rows() * options_.row_bytes);
    extents = next;
    first = end;
  }
  throw_if_refused(block);
  return {missing_.count, repeated(block).count};
}

NodeTally RowScatter::repeated(const RowBlock& block) const {
  NodeTally all = repeated_in_head_;
  for (const std::int64_t node : block.repeated().first) all.add(node);
  all.count = repeated_in_head_.count + block.repeated().count;
  return all;
}

bool RowScatter::is_refused(const RowBlock& block) const {
  return (options_.refuse_missing && missing_.count > 0) ||
         (options_.repeated == Repeated::kRefuse && repeated(block).count > 0);
}

void RowScatter::throw_if_refused(const RowBlock& block) const {
  if (!is_refused(block)) return;
  const NodeTally repeated_nodes = repeated(block);
  if (options_.repeated == Repeated::kRefuse && repeated_nodes.count > 0)
    throw SourceError(say(repeated_nodes.count,
                          " rows are for nodes that have one already: ", describe(repeated_nodes),
                          "; pass repeated='first' or 'last' to keep one of them"));
  throw SourceError(say(missing_.count, " of ", num_rows(), " nodes have no row: ",
                        describe(missing_), "; pass missing= with a value for them"));
}

std::string RowScatter::describe(const NodeTally& nodes) const {
  std::string text;
  for (const std::int64_t node : nodes.first)
    text += (text.empty() ? "" : ", ") +
            (options_.name_of ? options_.name_of(node) : std::to_string(node));
  return nodes.count > nodes.first.size() ? text + ", …" : text;
}

}  // namespace graphmount
