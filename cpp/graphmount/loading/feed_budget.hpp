// How the memory for the rows of one table is divided: rows that are kept for good, slots for rows
// that come and go, the bookkeeping of both, and reads in flight. The parts add up to no more than
// the whole, except that there are always twice `kLeastDepth` reads in flight: a MiB, or two with
// threads; and that a sweep has bookkeeping for `kLeastChunkRows` at least. Where processes share
// the hot rows, there are as many times more of them in the same memory.
//
// If a batch, or those of a window together, need so many rows that nearly every long request finds
// some, reading them in the order of the file takes fewer requests than slots can save. Such a
// table is swept (row_sweep.hpp), without slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace graphmount {

/// What is known of a table and of the batches to come.
struct FeedNeeds {
  std::uint64_t memory = 0;
  std::uint64_t num_rows = 0;
  std::uint64_t row_bytes = 0;
  bool hot_is_prefix = true;  // else a map says which rows are hot
  std::uint64_t most_hot = UINT64_MAX;
  /// How many processes have the hot rows together: each counts its part of their memory.
  std::uint64_t sharers = 1;
  /// Hot rows that another process has read: there are so many, whatever the memory.
  std::optional<std::uint64_t> num_given = {};
  double slot_share = 0;         // how much of it is for slots, if not everything fits
  std::uint64_t window = 1;      // batches that are known at a time
  std::uint64_t read_bytes = 0;  // that one read in flight needs
  /// The same of a long read, which are for sweeps; 0 if the table cannot be swept.
  std::uint64_t long_read_bytes = 0;
  /// For each row of a batch like those to come, how many rows are hotter. Sorted.
  std::vector<std::uint64_t> ranks;
};

struct FeedBudget {
  std::uint64_t num_hot = 0;
  std::size_t num_slots = 0;
  std::size_t num_known = 0;   // rows that the bookkeeping has room for
  unsigned depth = 0;          // reads in flight, for each of two batches or chunks under way
  std::size_t chunk_rows = 0;  // of a sweep; 0 if the table is not swept
  bool has_long_reads = false;
};

inline constexpr unsigned kLeastDepth = 16;
inline constexpr std::size_t kReadersPerFeed = 2;  // for two batches or chunks under way
inline constexpr std::size_t kLeastChunkRows = 256;

FeedBudget divide_memory(const FeedNeeds& needs);

}  // namespace graphmount
