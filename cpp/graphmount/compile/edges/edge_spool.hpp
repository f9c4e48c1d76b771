// Takes list entries in any order and gives them back in buckets of neighboring owners: the sorting
// of more edges than fit into memory begins here.
//
// Entries wait in blocks in memory. When those have grown to the limit, they are partitioned by
// cells (ranges of owners) and written to a temporary file, cell after cell, as one run. At the end
// a bucket is a range of cells: one sequential read of each run, and what is still in memory. Cells
// are counted exactly, so buckets are of the size asked for, however skewed or presorted the source
// is. Within a bucket, entries come back in the order in which they were added.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "graphmount/compile/edges/edge_block.hpp"
#include "graphmount/compile/edges/edge_piece.hpp"
#include "graphmount/system/files/spill_file.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

class EdgeSpool {
 public:
  struct Bucket {
    std::size_t first_cell = 0, end_cell = 0;
    std::uint64_t first_node = 0, end_node = 0;
    std::uint64_t entries = 0;
  };

  /// A bucket in memory, ready to be sorted. Its pieces point into the spool, too.
  struct Loaded {
    std::vector<EdgePiece> pieces;
    Buffer<std::byte> memory;  // kept for the next one, so that it is asked for only once
  };

  /// `memory` bounds the blocks; a temporary file is made in `folder` when they outgrow it. Owners
  /// are at least `first_owner`.
  EdgeSpool(EntryParts parts, std::uint64_t memory, const std::filesystem::path& folder,
            std::uint64_t first_owner = 0);

  template <class Source>
  void add(const Source& source) {
    const std::size_t rows = source.num_rows(), grain = kBlockEntries / source.entries_per_row();
    // So that the limit is checked often.
    const std::size_t step = 2 * grain * static_cast<std::size_t>(num_threads());
    for (std::size_t first = 0; first < rows; first += step) {
      const std::size_t last = std::min(rows, first + step);
      std::vector<std::optional<EdgeBlock>> made((last - first + grain - 1) / grain);
      parallel_each(made.size(), 1, [&](std::size_t i) {
        const std::size_t begin = first + i * grain;
        made[i].emplace(source, begin, std::min(last, begin + grain), parts_);
      });
      for (auto& block : made) take(std::move(*block));
    }
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t memory_bytes() const { return memory_; }
  /// Writes all that waits in memory to the temporary file.
  void spill();
  std::uint64_t spilled_bytes() const { return spill_.bytes(); }
  /// One more than the largest owner, or the largest neighbor, there is; 0 without entries.
  std::uint64_t end_owner() const { return size_ == 0 ? 0 : largest_owner_ + 1; }
  std::uint64_t end_neighbor() const { return size_ == 0 ? 0 : largest_neighbor_ + 1; }

  /// After the last `add`: all owners below `end_node` in buckets of at most so many entries and so
  /// many nodes, where cells are small enough.
  std::vector<Bucket> make_buckets(std::uint64_t end_node, std::uint64_t most_entries,
                                   std::uint64_t most_nodes);
  /// Asks the system to read what is on disk of a bucket.
  void prefetch(const Bucket& bucket) const;
  void load(const Bucket& bucket, Loaded& loaded) const;
  /// A bucket that does not fit into memory, in portions.
  template <class Use>
  void for_each_portion(const Bucket& bucket, const Use& use) const {
    for (const Run& run : runs_) {
      const auto [begin, end] = run_range(run, bucket);
      for_each_portion(run, begin, end, use);
    }
    for (const EdgeBlock& block : blocks_) use(block.piece(bucket.first_cell, bucket.end_cell));
  }
  /// Calls use(entry) for all entries, in parallel and in no order, and has_used(count) after some.
  template <class Use, class HasUsed>
  void for_each_entry(const Use& use, const HasUsed& has_used) const {
    const auto use_piece = [&](const EdgePiece& piece) {
      parallel_for(piece.count, 1 << 16,
                   [&](std::size_t begin, std::size_t end) { piece.for_each(begin, end, use); });
      has_used(piece.count);
    };
    for (const Run& run : runs_) for_each_portion(run, 0, run.begins.back(), use_piece);
    for (const EdgeBlock& block : blocks_) use_piece(block.piece());
  }
  /// Calls use(piece) for all entries, those of an owner in their order, and is empty afterwards.
  template <class Use>
  void drain(const Use& use) {
    for (const Run& run : runs_) {
      for_each_portion(run, 0, run.begins.back(), use);
      release(run);
    }
    runs_.clear();
    for (EdgeBlock& block : blocks_) {
      use(block.piece());
      EdgeBlock(std::move(block));  // frees it
    }
    blocks_.clear();
    memory_ = size_ = largest_owner_ = largest_neighbor_ = 0;
  }

 private:
  static constexpr std::uint64_t kBlockEntries = 1 << 18;
  static constexpr std::uint64_t kPortionEntries = 1 << 20;

  // What one spilling wrote: for each part of the entries a stretch of the file, sorted by cell.
  struct Run {
    Cells cells;
    std::vector<std::uint64_t> begins{};  // of the cells, in entries, and the end of the last
    ForParts<std::size_t> item_bytes{};   // 0 for parts that entries do not have
    ForParts<std::uint64_t> offsets{};    // where the parts begin
  };

  void take(EdgeBlock block);
  Cells cells_now() const;
  void partition(const Cells& cells);
  std::uint64_t spill_part(const Run& run, std::size_t part);
  std::pair<std::uint64_t, std::uint64_t> run_range(const Run& run, const Bucket& bucket) const;
  static std::size_t loaded_bytes(const Run& run, std::uint64_t entries);
  EdgePiece load_run(const Run& run, std::uint64_t begin, std::uint64_t end,
                     std::byte* memory) const;
  /// Gives back its disk space. Not done for single buckets: a great many small holes make some
  /// file systems wait for the disk at every turn.
  void release(const Run& run);
  template <class Use>
  void for_each_portion(const Run& run, std::uint64_t begin, std::uint64_t end,
                        const Use& use) const {
    Buffer<std::byte> memory;
    for (std::uint64_t at = begin; at < end; at += kPortionEntries) {
      const std::uint64_t last = std::min(end, at + kPortionEntries);
      memory.resize(loaded_bytes(run, last - at));
      use(load_run(run, at, last, memory.data()));
    }
  }

  EntryParts parts_;
  std::uint64_t limit_;
  std::uint64_t first_owner_;
  SpillFile spill_;
  std::vector<EdgeBlock> blocks_;
  std::vector<Run> runs_;
  Buffer<std::byte> staging_;
  Cells cells_;  // once buckets have been made
  std::uint64_t size_ = 0, memory_ = 0, largest_owner_ = 0, largest_neighbor_ = 0;
};

}  // namespace graphmount
