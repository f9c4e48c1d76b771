// Consecutive rows of a matrix, put together in memory from rows that come in any order.
//
// Which of several rows for one node stays depends on the order in which they are given, and on
// nothing else: not on threads, nor on how they are cut into calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmount {

/// What to do with more than one row for the same node. Of those refused, the first is kept.
enum class Repeated { kRefuse, kKeepFirst, kKeepLast };

/// Some nodes that are worth a mention: how many, and the first few.
struct NodeTally {
  std::uint64_t count = 0;
  std::vector<std::int64_t> first{};

  void add(std::int64_t node);
};

/// Rows where they lie: destination i is the int64 at destinations + i * destination_stride, and
/// its row begins at rows + i * row_stride. With `order`, i runs through order[0], order[1], …
struct PlacedRows {
  const std::byte* destinations;
  std::size_t destination_stride;
  const std::byte* rows;
  std::size_t row_stride;
  std::size_t count;
  const std::uint32_t* order = nullptr;
};

class RowBlock {
 public:
  /// Has room for `capacity` rows.
  RowBlock(std::uint64_t row_bytes, std::uint64_t capacity, Repeated repeated);

  /// Bytes of memory that each row of the capacity takes.
  static std::uint64_t slot_bytes(std::uint64_t row_bytes) { return row_bytes + 1; }

  /// Starts again, with the nodes [first, first + count).
  void reset(std::uint64_t first, std::uint64_t count);

  /// Copies rows to their places. Every destination must be one of the block's nodes.
  void place(const PlacedRows& rows);

  /// Copies `fill` to every place without a row (leaves it alone if empty), and counts them.
  void fill_missing(std::span<const std::byte> fill, NodeTally& missing);

  std::span<const std::byte> bytes() const { return {matrix_.get(), count_ * row_bytes_}; }
  const NodeTally& repeated() const { return repeated_; }  // since construction

 private:
  std::uint64_t row_bytes_;
  Repeated policy_;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  // Not a vector: pages that are not touched yet take no memory.
  std::unique_ptr<std::byte[]> matrix_;
  std::unique_ptr<bool[]> has_row_;
  std::vector<std::int64_t> slots_;
  NodeTally repeated_;
};

}  // namespace graphmount
