#include "graphmount/compile/edges/edge_spool.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
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

std::optional<std::uint64_t> EdgeSpool::largest_id() const {
  if (size_ == 0) return std::nullopt;
  return std::max(largest_owner_, largest_neighbor_);
}

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
  parallel_for(static_cast<std::int64_t>(blocks_.size()), 1, [&](std::int64_t i, std::int64_t) {
    blocks_[static_cast<std::size_t>(i)].partition(cells);
  });
}

// Writes one part of all blocks, cell after cell; copy(piece, i, count, to) brings items i to i +
// count of a piece.
template <class Item, class Copy>
std::uint64_t EdgeSpool::spill_part(const Run& run, const Copy& copy) {
  staging_.resize(std::clamp<std::size_t>(limit_ / 8, kLeastStagingBytes, kMostStagingBytes));
  const std::span<Item> staging(reinterpret_cast<Item*>(staging_.data()),
                                staging_.size() / sizeof(Item));
  std::uint64_t offset = 0;
  bool is_first = true;
  const auto append = [&](std::size_t count) {
    const std::uint64_t at = spill_.append(std::as_bytes(staging.first(count)));
    if (std::exchange(is_first, false)) offset = at;
  };
  for (std::size_t cell = 0; cell < run.cells.count;) {
    // As many cells as fit; one that does not is staged alone, in turns.
    std::size_t end = cell + 1;
    while (end < run.cells.count && run.begins[end + 1] - run.begins[cell] <= staging.size()) ++end;
    const std::uint64_t count = run.begins[end] - run.begins[cell];
    if (count <= staging.size()) {
      parallel_for(static_cast<std::int64_t>(end - cell), 16,
                   [&](std::int64_t from, std::int64_t to) {
                     for (auto i = cell + static_cast<std::size_t>(from);
                          i < cell + static_cast<std::size_t>(to); ++i) {
                       Item* place = staging.data() + (run.begins[i] - run.begins[cell]);
                       for (const EdgeBlock& block : blocks_) {
                         const EdgePiece piece = block.piece(i, i + 1);
                         copy(piece, 0, piece.count, place);
                         place += piece.count;
                       }
                     }
                   });
      if (count > 0) append(static_cast<std::size_t>(count));
    } else {
      for (const EdgeBlock& block : blocks_) {
        const EdgePiece piece = block.piece(cell, end);
        for (std::size_t i = 0; i < piece.count; i += staging.size()) {
          const std::size_t some = std::min(staging.size(), piece.count - i);
          copy(piece, i, some, staging.data());
          append(some);
        }
      }
    }
    cell = end;
  }
  return offset;
}

void EdgeSpool::spill() {
  Run run{.cells = cells_now()};
  partition(run.cells);
  run.begins.assign(run.cells.count + 1, 0);
  for (const EdgeBlock& block : blocks_) {
    run.is_wide |= block.is_wide();
    run.has_wide_rows |= block.largest_row() > UINT32_MAX;
    for (std::size_t cell = 0; cell <= run.cells.count; ++cell)
      run.begins[cell] += block.cell_begin(cell);
  }
  const auto copy_as_is = [](const auto* from, std::size_t count, auto* to) {
    std::memcpy(to, from, count * sizeof(*to));
  };
  if (run.is_wide) {
    run.pairs = spill_part<WidePair>(
        run, [](const EdgePiece& piece, std::size_t begin, std::size_t count, WidePair* to) {
          piece.for_each(begin, begin + count,
                         [&](const ListEntry& entry) { *to++ = {entry.owner, entry.neighbor}; });
        });
  } else {
    run.pairs = spill_part<NarrowPair>(
        run, [&](const EdgePiece& piece, std::size_t begin, std::size_t count, NarrowPair* to) {
          copy_as_is(piece.narrow + begin, count, to);
        });
  }
  const auto copy_rows = [](const EdgePiece& piece, std::size_t begin, std::size_t count,
                            auto* to) {
    for (std::size_t i = begin; i < begin + count; ++i)
      *to++ = static_cast<std::remove_reference_t<decltype(*to)>>(piece.row(i));
  };
  if (parts_.rows && run.has_wide_rows) run.rows = spill_part<std::uint64_t>(run, copy_rows);
  if (parts_.rows && !run.has_wide_rows) run.rows = spill_part<std::uint32_t>(run, copy_rows);
  if (parts_.weights)
    run.weights =
        spill_part<float>(run, [&](const EdgePiece& piece, std::size_t begin, std::size_t count,
                                   float* to) { copy_as_is(piece.weights + begin, count, to); });
  if (parts_.times)
    run.times = spill_part<std::int64_t>(
        run, [&](const EdgePiece& piece, std::size_t begin, std::size_t count, std::int64_t* to) {
          copy_as_is(piece.times + begin, count, to);
        });
  runs_.push_back(std::move(run));
  blocks_.clear();
  memory_ = 0;
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

std::vector<EdgeSpool::Part> EdgeSpool::parts_of(const Run& run) const {
  std::vector<Part> parts = {{run.pairs, run.is_wide ? sizeof(WidePair) : sizeof(NarrowPair)}};
  if (parts_.rows) parts.push_back({run.rows, run.has_wide_rows ? 8U : 4U});
  if (parts_.weights) parts.push_back({run.weights, sizeof(float)});
  if (parts_.times) parts.push_back({run.times, sizeof(std::int64_t)});
  return parts;
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
    for (const Part& part : parts_of(run))
      spill_.will_need(part.offset + begin * part.item_bytes, (end - begin) * part.item_bytes);
  }
}

void EdgeSpool::release(const Run& run) {
  for (const Part& part : parts_of(run))
    spill_.release(part.offset, run.begins.back() * part.item_bytes);
}

// Each part begins where any of its items may.
std::size_t EdgeSpool::loaded_bytes(const Run& run, std::uint64_t entries) const {
  std::size_t bytes = 0;
  for (const Part& part : parts_of(run))
    bytes += static_cast<std::size_t>(round_up(entries * part.item_bytes, sizeof(WidePair)));
  return bytes;
}

EdgePiece EdgeSpool::load_run(const Run& run, std::uint64_t begin, std::uint64_t end,
                              std::byte* memory) const {
  EdgePiece piece{.count = static_cast<std::size_t>(end - begin)};
  const auto read = [&](const auto*& pointer, std::uint64_t offset) {
    using Item = std::remove_cvref_t<decltype(*pointer)>;
    const std::size_t bytes = piece.count * sizeof(Item);
    spill_.read_at(offset + begin * sizeof(Item), {memory, bytes});
    pointer = reinterpret_cast<const Item*>(memory);
    memory += round_up(bytes, sizeof(WidePair));
  };
  if (run.is_wide)
    read(piece.wide, run.pairs);
  else
    read(piece.narrow, run.pairs);
  if (parts_.rows && run.has_wide_rows) read(piece.wide_rows, run.rows);
  if (parts_.rows && !run.has_wide_rows) read(piece.narrow_rows, run.rows);
  if (parts_.weights) read(piece.weights, run.weights);
  if (parts_.times) read(piece.times, run.times);
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
  parallel_for(static_cast<std::int64_t>(runs_.size()), 1, [&](std::int64_t number, std::int64_t) {
    const auto i = static_cast<std::size_t>(number);
    const auto [begin, end] = run_range(runs_[i], bucket);
    loaded.pieces[i] = load_run(runs_[i], begin, end, loaded.memory.data() + places[i]);
  });
  for (const EdgeBlock& block : blocks_)
    if (bucket.first_cell < bucket.end_cell)
      loaded.pieces.push_back(block.piece(bucket.first_cell, bucket.end_cell));
}

}  // namespace graphmount
