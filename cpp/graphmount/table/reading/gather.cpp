#include "graphmount/table/reading/gather.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/system/memory/recycler.hpp"
#include "graphmount/system/threads/fork_safe_mutex.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/table/reading/row_order.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kStagingBytes = std::uint64_t{8} << 20;  // for rows that are converted
constexpr std::size_t kMostIdle = 4;                             // readers kept for a matrix

/// What a call needs besides its reader, kept for the next.
struct GatherMemory {
  RowOrder order;
  Buffer<RowRead> reads;
  Buffer<std::uint32_t> read_of;  // which of the reads has the row of the i-th sorted id
  Buffer<std::byte> staging;

  std::size_t bytes() const {
    return order.bytes() + reads.bytes() + read_of.bytes() + staging.bytes();
  }
};

}  // namespace

FeatureGather::FeatureGather(const FeatureMatrix& matrix)
    : matrix_(&matrix), residency_(matrix.mount().file()) {
  idle_.reserve(kMostIdle);
}

FeatureGather::~FeatureGather() = default;

std::unique_ptr<RowReader> FeatureGather::take_reader(ReaderKind kind) const {
  {
    const std::lock_guard lock(fork_safe_mutex<FeatureGather>());
    const auto found = std::find_if(idle_.begin(), idle_.end(),
                                    [&](const Idle& idle) { return idle.first == kind; });
    if (found != idle_.end()) {
      std::unique_ptr<RowReader> reader = std::move(found->second);
      idle_.erase(found);
      return reader;
    }
  }
  return make_row_reader(*matrix_, kind);
}

void FeatureGather::give_back(ReaderKind kind, std::unique_ptr<RowReader> reader) const {
  const std::lock_guard lock(fork_safe_mutex<FeatureGather>());
  if (idle_.size() < kMostIdle) idle_.emplace_back(kind, std::move(reader));
}

void FeatureGather::gather(std::span<const std::int64_t> ids, DType dtype, std::span<std::byte> out,
                           ReaderKind kind) const {
  require_ids(ids, matrix_->num_rows(), "row");
  const Section& section = matrix_->matrix();
  const bool is_scaled = matrix_->scales() != nullptr && dtype != section.dtype;
  const std::vector<float> scales = is_scaled ? matrix_->read_scales() : std::vector<float>();
  const RowConversion conversion(section.dtype, dtype, section.columns,
                                 is_scaled ? scales.data() : nullptr);
  if (out.size() != ids.size() * conversion.out_bytes())
    throw std::invalid_argument(say("the output has ", out.size(), " bytes for ", ids.size(),
                                    " rows of ", conversion.out_bytes()));
  // Rows without columns have no bytes to copy, and perhaps nowhere to copy them to.
  if (matrix_->row_bytes() == 0) return matrix_->mount().file().require_intact();
  if (reads_mapping(kind, residency_)) return gather_mapped(ids, conversion, out.data());
  std::unique_ptr<RowReader> reader = take_reader(kind);
  const std::size_t at_once = RowOrder::most_ids(matrix_->num_rows());
  for (std::size_t at = 0; at < ids.size(); at += at_once)
    gather_read(ids.subspan(at, std::min(at_once, ids.size() - at)), conversion,
                out.data() + at * conversion.out_bytes(), *reader);
  matrix_->mount().file().require_intact();
  give_back(kind, std::move(reader));  // not after a failure
}

void FeatureGather::gather_mapped(std::span<const std::int64_t> ids,
                                  const RowConversion& conversion, std::byte* out) const {
  const std::uint64_t row_bytes = matrix_->row_bytes(), out_bytes = conversion.out_bytes();
  matrix_->mount().file().read_guarded([&] {
    const auto* rows = matrix_->mount().data<std::byte>(matrix_->matrix());
    // By value: what is written here might else be taken for what a reference leads to.
    const auto row_of = [rows, row_bytes](std::int64_t id) {
      return rows + static_cast<std::uint64_t>(id) * row_bytes;
    };
    const std::size_t grain = balanced_grain(ids.size(), least_rows(row_bytes));
    parallel_for(ids.size(), grain, [&](std::size_t begin, std::size_t end) {
      for_each_id_in_blocks(
          ids, begin, end, matrix_->num_rows(), "row",
          [=, &conversion](std::size_t i, std::int64_t id) {
            conversion.convert(row_of(id), out + i * out_bytes);
          },
          [=](std::int64_t id) { prefetch_row(row_of(id), row_bytes); }, fetched_rows(row_bytes));
    });
  });
}

void FeatureGather::gather_read(std::span<const std::int64_t> ids, const RowConversion& conversion,
                                std::byte* out, RowReader& reader) const {
  const Recycled<GatherMemory> memory;
  RowOrder& order = memory->order;
  order.sort(ids, matrix_->num_rows());
  memory->reads.resize(ids.size());
  memory->read_of.resize(ids.size());
  const std::uint64_t row_bytes = matrix_->row_bytes(), out_bytes = conversion.out_bytes();
  const auto out_of = [&](std::size_t i) { return out + order.place(i) * out_bytes; };
  const std::size_t staged_rows =
      conversion.is_copy()
          ? ids.size()
          : static_cast<std::size_t>(std::max<std::uint64_t>(1, kStagingBytes / row_bytes));
  if (!conversion.is_copy()) memory->staging.resize(std::min(ids.size(), staged_rows) * row_bytes);
  for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    std::size_t num_reads = 0;
    for (end = begin; end < ids.size(); ++end) {
      if (end == begin || order.row(end) != order.row(end - 1)) {
        if (num_reads == staged_rows) break;
        std::byte* const target =
            conversion.is_copy() ? out_of(end) : memory->staging.data() + num_reads * row_bytes;
        memory->reads[num_reads++] = {order.row(end), target};
      }
      memory->read_of[end] = static_cast<std::uint32_t>(num_reads - 1);
    }
    reader.read(memory->reads.span().first(num_reads));
    const std::size_t count = end - begin;
    if (conversion.is_copy() && num_reads == count) continue;  // each is in its place
    parallel_each(count, balanced_grain(count, least_rows(row_bytes)), [&](std::size_t i) {
      const std::byte* const row = memory->reads[memory->read_of[begin + i]].out;
      if (row != out_of(begin + i)) conversion.convert(row, out_of(begin + i));
    });
  }
}

}  // namespace graphmount
