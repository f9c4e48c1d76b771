#include "graphmount/loading/rows/row_cache.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "graphmount/loading/rows/read_threads.hpp"
#include "graphmount/loading/rows/row_sweep.hpp"
#include "graphmount/loading/rows/row_window.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

using RowReaders = std::vector<std::unique_ptr<RowReader>>;

// Two blocks in one request take a disk less time than in two; with a block between them that
// nobody wants, nearly as much.
constexpr std::uint64_t kBlocksBeside = 1;

// Slots. What is in none of them is read while other rows are copied, and the reads of a batch
// begin before those of the batch before have ended, so that the disk is never idle.
class WindowCache final : public RowCache {
 public:
  WindowCache(RowReaders readers, const CacheShape& shape,
              const std::shared_ptr<ReadThreads>& threads)
      : shape_(shape),
        row_bytes_(shape.row_bytes),
        slot_bytes_(shape.num_slots * shape.row_bytes),
        window_(make_window()) {
    for (std::size_t i = 0; i < readers.size(); ++i)
      batches_[i].reader = std::make_unique<TableReads>(std::move(readers[i]), threads);
  }

  bool announce(std::span<const std::uint64_t> rows) override { return window_.announce(rows); }

  void start(const RowFill& fill) override {
    Batch& batch = batches_[num_started_++ % 2];
    ++num_under_way_;
    batch.fill = &fill;
    const auto rows = fill.cold->rows();
    window_.plan(rows, batch.plan);
    batch.reads.clear();
    for (const std::uint32_t index : batch.plan.reads)
      batch.reads.push_back({rows[index], fill.first_of(index)});
    for (const Rider& rider : batch.plan.riders)
      batch.reads.push_back({rider.row, slot(rider.slot)});
    std::sort(batch.reads.begin(), batch.reads.end(),
              [](const RowRead& one, const RowRead& other) { return one.row < other.row; });
    if (batch.reader) batch.reader->start(batch.reads);
  }

  void copy() override {
    const Batch& batch = batches_[(num_started_ - 1) % 2];
    for (const SlotMove& hit : batch.plan.hits)
      std::memcpy(batch.fill->first_of(hit.place), slot(hit.slot), row_bytes_);
  }

  void wait() override {
    if (first().reader) first().reader->wait();
  }

  void finish(FeedStats& stats) override {
    Batch& batch = first();
    const RowFill& fill = *batch.fill;
    const auto rows = fill.cold->rows();
    for (const SlotMove& keep : batch.plan.keeps)
      if (num_under_way_ == 1 || window_.is_kept(keep.slot, rows[keep.place]))
        std::memcpy(slot(keep.slot), fill.first_of(keep.place), row_bytes_);
    if (fill.cold->num_places() > rows.size())
      for (std::size_t i = 0; i < rows.size(); ++i)
        fill.for_rows(i, [&, first = fill.first_of(i)](std::byte* row) {
          if (row != first) std::memcpy(row, first, row_bytes_);
        });
    stats.window_rows += batch.plan.hits.size() + fill.cold->num_places() - rows.size();
    stats.read_rows += batch.plan.reads.size();
    stats.read_along_rows += batch.plan.riders.size();
    // The other reader may be at work; what it has done counts when it is done.
    if (batch.reader) {
      batch.read_stats = batch.reader->stats();
      batch.reader_bytes = batch.reader->bytes();
    }
    stats.reads = batches_[0].read_stats;
    stats.reads += batches_[1].read_stats;
    --num_under_way_;
  }

  void abandon() override {
    for (const Batch& batch : batches_) {
      try {
        if (batch.reader) batch.reader->wait();
      } catch (...) {  // nobody wants the rows any more
      }
    }
    if (num_under_way_ == 0 && window_.num_announced() == 0) return;
    // Slots that were to be filled have not been.
    window_ = make_window();
    num_under_way_ = 0;
  }

  std::size_t bytes() const override {
    return slot_bytes_.bytes() + window_.bytes() + batches_[0].reader_bytes +
           batches_[1].reader_bytes;
  }

 private:
  /// A batch that is under way.
  struct Batch {
    const RowFill* fill = nullptr;
    WindowPlan plan;
    std::vector<RowRead> reads;
    std::unique_ptr<TableReads> reader;  // none if all rows are hot
    ReadStats read_stats;                // of the reader, when it was done last
    std::size_t reader_bytes = 0;
  };

  Batch& first() { return batches_[(num_started_ - num_under_way_) % 2]; }
  std::byte* slot(std::uint32_t number) { return slot_bytes_.data() + number * row_bytes_; }
  RowWindow make_window() const {
    return {shape_.num_slots, shape_.num_rows,
            RowBlocks(row_bytes_, kDiskBlockBytes, kBlocksBeside), shape_.num_known};
  }

  CacheShape shape_;
  std::size_t row_bytes_;
  Buffer<std::byte> slot_bytes_;
  RowWindow window_;
  std::uint64_t num_started_ = 0, num_under_way_ = 0;
  std::array<Batch, 2> batches_;  // in turn; the last, as their threads use the slots
};

// Without slots: a sweep reads rows for many batches at once, ahead of time, and a batch copies its
// rows when it is started.
class SweepCache final : public RowCache {
 public:
  SweepCache(RowReaders readers, const CacheShape& shape)
      : sweep_(std::move(readers), shape.num_rows, shape.row_bytes, shape.chunk_rows) {}

  bool announce(std::span<const std::uint64_t> rows) override {
    sweep_.admit(rows);
    return true;
  }
  void set_room(std::size_t bytes, bool has_spare) override { sweep_.set_room(bytes, has_spare); }
  void arrive() override { swept_ = sweep_.wait(); }
  void start(const RowFill& fill) override { fill_ = &fill; }

  void copy() override {
    const std::size_t count = fill_->cold->rows().size();
    parallel_each(count, balanced_grain(count, 512), [&](std::size_t i) {
      fill_->for_rows(i,
                      [&](std::byte* row) { std::memcpy(row, swept_.row(i), fill_->row_bytes); });
    });
  }

  void finish(FeedStats& stats) override {
    const ColdRows& cold = *fill_->cold;
    stats.window_rows += swept_.shared_rows + cold.num_places() - cold.rows().size();
    stats.read_rows += swept_.read_rows;
    stats.reads = sweep_.stats();
    sweep_.release();
  }

  void cancel() noexcept override { sweep_.cancel(); }
  void abandon() override { sweep_.clear(); }
  std::size_t bytes() const override { return sweep_.bytes(); }

 private:
  const RowFill* fill_ = nullptr;  // of the batch whose turn it is, as the next
  SweptRows swept_;
  RowSweep sweep_;
};

}  // namespace

std::unique_ptr<RowCache> make_row_cache(RowReaders readers, const CacheShape& shape,
                                         std::shared_ptr<ReadThreads> threads) {
  if (shape.chunk_rows != 0) return std::make_unique<SweepCache>(std::move(readers), shape);
  if (threads == nullptr && !readers.empty())
    threads = std::make_shared<ReadThreads>(readers.size());
  return std::make_unique<WindowCache>(std::move(readers), shape, threads);
}

}  // namespace graphmount
