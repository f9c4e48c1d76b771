#include "graphmount/compile/edges/edge_spool.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace graphmount {
namespace {

// Enough that a bucket can be made of many cells, few enough that moving entries to their cells
// keeps to the processor's caches.
constexpr int kCellBits = 11;
constexpr std::size_t kMostStagingBytes = 32 << 20;
constexpr std::size_t kLeastStagingBytes = 64 << 10;

// Two blocks as one source.
struct Joined {
  EdgePiece first, second;

  std::uint64_t num_rows() const { return first.count + second.count; }
  std::uint64_t entries_per_row() const { return 1; }
  template <class Add>
  void for_each(std::size_t, std::size_t, const Add& add) const {
    first.for_each(0, first.count, add);
    second.for_each(0, second.count, add);
  }
};

}  // namespace

EdgeSpool::EdgeSpool(EntryParts parts, std::uint64_t memory, const std::filesystem::path& folder,
                     std::uint64_t first_owner)
    : parts_(parts), limit_(memory), first_owner_(first_owner), spill_(folder) {}

void EdgeSpool::take(EdgeBlock block) {
  if (block.size() == 0) return;
  size_ += block.size();
  largest_owner_ = std::max(largest_owner_, block.largest_owner());
  largest_neighbor_ = std::max(largest_neighbor_, block.largest_neighbor());
  memory_ += block.bytes();
  blocks_.push_back(std::move(block));
  // A source with small batches would make a great many blocks. Blocks of like size are joined, so
  // that an entry is moved a few times at most.
  while (blocks_.size() > 1) {
    EdgeBlock& last = blocks_.back();
    EdgeBlock& before = blocks_[blocks_.size() - 2];
    const std::size_t entries = before.size() + last.size();
    if (before.size() > 2 * last.size() || entries > kBlockEntries) break;
    EdgeBlock joined(Joined{before.piece(), last.piece()}, 0, entries, parts_);
    memory_ += joined.bytes();
    memory_ -= before.bytes() + last.bytes();
    blocks_.pop_back();
    blocks_.back() = std::move(joined);
  }
  if (memory_ > limit_) spill();
}

Cells EdgeSpool::cells_now() const {
  const std::uint64_t width = largest_owner_ - std::min(first_owner_, largest_owner_);
  const int shift = std::max(0, static_cast<int>(std::bit_width(width)) - kCellBits);
  return {first_owner_, shift, static_cast<std::size_t>(width >> shift) + 1};
}

void EdgeSpool::partition(const Cells& cells) {
  parallel_each(blocks_.size(), 1, [&](std::size_t i) { blocks_[i].partition(cells); });
}

// Writes one part of all blocks, cell after cell, and tells where it begins.
std::uint64_t EdgeSpool::spill_part(const Run& run, std::size_t part) {
  const std::size_t item_bytes = run.item_bytes[part];
  staging_.resize(std::clamp<std::size_t>(limit_ / 8, kLeastStagingBytes, kMostStagingBytes));
  const std::size_t most = staging_.size() / item_bytes;
  const std::uint64_t offset = spill_.bytes();
  const auto append = [&](std::size_t count) {
    spill_.append({staging_.data(), count * item_bytes});
  };
  for (std::size_t cell = 0; cell < run.cells.count;) {
    // As many cells as fit; one that does not is staged alone, in turns.
    std::size_t end = cell + 1;
    while (end < run.cells.count && run.begins[end + 1] - run.begins[cell] <= most) ++end;
    const std::uint64_t count = run.begins[end] - run.begins[cell];
    if (count <= most) {
      parallel_each(end - cell, 16, [&](std::size_t i) {
        std::uint64_t place = run.begins[cell + i] - run.begins[cell];
        for (const EdgeBlock& block : blocks_) {
          const EdgePiece piece = block.piece(cell + i, cell + i + 1);
          piece.copy(part, 0, piece.count, item_bytes, staging_.data() + place * item_bytes);
          place += piece.count;
        }
      });
      append(static_cast<std::size_t>(count));
    } else {
      for (const EdgeBlock& block : blocks_) {
        const EdgePiece piece = block.piece(cell, end);
        for (std::size_t i = 0; i < piece.count; i += most) {
          const std::size_t some = std::min(most, piece.count - i);
          piece.copy(part, i, some, item_bytes, staging_.data());
          append(some);
        }
      }
    }
    cell = end;
  }
  return offset;
}

void EdgeSpool::spill() {
  if (blocks_.empty()) return;
  Run run{.cells = cells_now()};
  partition(run.cells);
  run.begins.assign(run.cells.count + 1, 0);
  bool is_wide = false, has_wide_rows = false;
  for (const EdgeBlock& block : blocks_) {
    is_wide |= block.is_wide();
    has_wide_rows |= block.largest_row() > UINT32_MAX;
    for (std::size_t cell = 0; cell <= run.cells.count; ++cell)
      run.begins[cell] += block.cell_begin(cell);
  }
  run.item_bytes[EntryPart::kPairs] = is_wide ? sizeof(WidePair) : sizeof(NarrowPair);
  if (parts_.rows) run.item_bytes[EntryPart::kRows] = has_wide_rows ? 8 : 4;
  if (parts_.weights) run.item_bytes[EntryPart::kWeights] = sizeof(float);
  if (parts_.times) run.item_bytes[EntryPart::kTimes] = sizeof(std::int64_t);
  for (std::size_t part = 0; part < EntryPart::kCount; ++part)
    if (run.item_bytes[part] != 0) run.offsets[part] = spill_part(run, part);
  runs_.push_back(std::move(run));
  blocks_.clear();
  memory_ = 0;
  staging_.release();  // which many spools that wait would have for nothing
}

std::vector<EdgeSpool::Bucket> EdgeSpool::make_buckets(std::uint64_t end_node,
                                                       std::uint64_t most_entries,
                                                       std::uint64_t most_nodes) {
  cells_ = cells_now();
  partition(cells_);
  std::vector<std::uint64_t> counts(cells_.count, 0);
  for (const Run& run : runs_)
    for (std::size_t cell = 0; cell < run.cells.count; ++cell)
      // Runs made while the largest owner was smaller have narrower cells.
      counts[cell >> (cells_.shift - run.cells.shift)] += run.begins[cell + 1] - run.begins[cell];
  for (const EdgeBlock& block : blocks_)
    for (std::size_t cell = 0; cell < cells_.count; ++cell)
      counts[cell] += block.cell_begin(cell + 1) - block.cell_begin(cell);
  std::vector<Bucket> buckets;
  const std::uint64_t width = std::uint64_t{1} << cells_.shift;
  for (std::size_t cell = 0; cell < cells_.count; ++cell) {
    const std::uint64_t first_node =
        first_owner_ + (static_cast<std::uint64_t>(cell) << cells_.shift);
    if (first_node >= end_node) break;
    const std::uint64_t last_node = std::min(end_node, first_node + width);
    if (buckets.empty() || buckets.back().entries + counts[cell] > most_entries ||
        last_node - buckets.back().first_node > most_nodes)
      buckets.push_back({.first_cell = cell, .first_node = first_node});
    buckets.back().end_cell = cell + 1;
    buckets.back().end_node = last_node;
    buckets.back().entries += counts[cell];
  }
  // Nodes behind the last owner have empty lists.
  std::uint64_t node = buckets.empty() ? first_owner_ : buckets.back().end_node;
  for (; node < end_node; node = buckets.back().end_node)
    buckets.push_back({.first_cell = cells_.count,
                       .end_cell = cells_.count,
                       .first_node = node,
                       .end_node = std::min(end_node, node + most_nodes)});
  return buckets;
}

std::pair<std::uint64_t, std::uint64_t> EdgeSpool::run_range(const Run& run,
                                                             const Bucket& bucket) const {
  const int finer = cells_.shift - run.cells.shift;
  const auto place = [&](std::size_t cell) {
    return run.begins[std::min(cell << finer, run.cells.count)];
  };
  return {place(bucket.first_cell), place(bucket.end_cell)};
}

void EdgeSpool::prefetch(const Bucket& bucket) const {
  for (const Run& run : runs_) {
    const auto [begin, end] = run_range(run, bucket);
    if (begin == end) continue;
    for (std::size_t part = 0; part < EntryPart::kCount; ++part)
      spill_.will_need(run.offsets[part] + begin * run.item_bytes[part],
                       (end - begin) * run.item_bytes[part]);
  }
}

void EdgeSpool::release(const Run& run) {
  for (std::size_t part = 0; part < EntryPart::kCount; ++part)
    spill_.release(run.offsets[part], run.begins.back() * run.item_bytes[part]);
}

// Each part begins where any of its items may.
std::size_t EdgeSpool::loaded_bytes(const Run& run, std::uint64_t entries) {
  std::size_t bytes = 0;
  for (const std::size_t item_bytes : run.item_bytes)
    bytes += static_cast<std::size_t>(round_up(entries * item_bytes, sizeof(WidePair)));
  return bytes;
}

EdgePiece EdgeSpool::load_run(const Run& run, std::uint64_t begin, std::uint64_t end,
                              std::byte* memory) const {
  EdgePiece piece{.count = static_cast<std::size_t>(end - begin), .item_bytes = run.item_bytes};
  for (std::size_t part = 0; part < EntryPart::kCount; ++part) {
    if (run.item_bytes[part] == 0) continue;
    const std::size_t bytes = piece.count * run.item_bytes[part];
    spill_.read_at(run.offsets[part] + begin * run.item_bytes[part], {memory, bytes});
    piece.data[part] = memory;
    memory += round_up(bytes, sizeof(WidePair));
  }
  return piece;
}

void EdgeSpool::load(const Bucket& bucket, Loaded& loaded) const {
  std::vector<std::size_t> places = {0};
  for (const Run& run : runs_) {
    const auto [begin, end] = run_range(run, bucket);
    places.push_back(places.back() + loaded_bytes(run, end - begin));
  }
  loaded.memory.resize(places.back());
  loaded.pieces.resize(runs_.size());
  parallel_each(runs_.size(), 1, [&](std::size_t i) {
    const auto [begin, end] = run_range(runs_[i], bucket);
    loaded.pieces[i] = load_run(runs_[i], begin, end, loaded.memory.data() + places[i]);
  });
  for (const EdgeBlock& block : blocks_)
    if (bucket.first_cell < bucket.end_cell)
      loaded.pieces.push_back(block.piece(bucket.first_cell, bucket.end_cell));
}

}  // namespace graphmount
