// Brings the rows of a matrix into the order of their nodes, with sequential I/O and within a
// memory budget.
//
// A matrix that fits into the budget, and whose number of rows is known, is put together in memory.
// Otherwise rows are collected in memory; when the budget is used up, they are sorted into buckets
// of consecutive nodes and written to a temporary file as one run. At the end, each bucket is put
// together in memory from its parts in all runs, and appended to the matrix. The result depends
// only on the rows and their order, not on the budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graphmount/base/progress.hpp"
#include "graphmount/compile/row_block.hpp"
#include "graphmount/system/files/spill_file.hpp"
#include "graphmount/table/feature_writer.hpp"

namespace graphmount {

struct ScatterOptions {
  std::uint64_t row_bytes = 0;
  std::optional<std::uint64_t> num_rows{};  // none: the largest destination plus one
  Repeated repeated = Repeated::kRefuse;
  bool refuse_missing = true;
  std::vector<std::byte> fill{};  // the row of nodes without one, unless that is refused
  std::uint64_t memory = 0;       // bytes; a little is used in any case
  std::filesystem::path tmp{};    // a folder for what does not fit
  /// What messages call a node; its number if empty.
  std::function<std::string(std::int64_t)> name_of{};
};

struct ScatterSummary {
  std::uint64_t missing = 0;   // nodes that got the fill row
  std::uint64_t repeated = 0;  // rows that were dropped for another one
};

class RowScatter {
 public:
  /// Throws std::invalid_argument for options that contradict each other, BudgetError if so many
  /// rows cannot be sorted in so little memory.
  explicit RowScatter(ScatterOptions options);

  /// The rows of the nodes below `head` are in the file already, one for each: further ones for
  /// them are repeated. To be called before the first `add`. Throws std::invalid_argument if the
  /// last of several rows is to be kept, or there are fewer nodes.
  void begin_at(std::uint64_t head);

  /// The next rows of the source: row i belongs to node destinations[i]. Throws SourceError for a
  /// destination that does not exist, IoError if the temporary file cannot be written.
  void add(std::span<const std::int64_t> destinations, std::span<const std::byte> rows);

  /// How many rows the matrix has, as far as is known now.
  std::uint64_t num_rows() const;

  /// Appends the whole matrix, which is to have num_rows() rows, from its head on; does not finish
  /// the file. To be called once, after the last `add`. Throws SourceError if rows are missing or
  /// repeated that must not be. Progress is in bytes of the matrix.
  ScatterSummary write_to(FeatureWriter& writer, const Progress& progress);

  /// Frees the memory and the temporary file. The object cannot be used afterwards.
  void close();

 private:
  struct Run {
    std::uint64_t records;    // offset of its records in the spill file
    std::uint64_t directory;  // offset of where each bucket begins, as uint32, and of the end
    std::uint64_t num_buckets;
  };
  struct Extent {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  void require_open() const;
  void require_destinations(std::span<const std::int64_t> destinations) const;
  void add_known(std::span<const std::int64_t> destinations, std::span<const std::byte> rows);
  void collect(std::span<const std::int64_t> destinations, std::span<const std::byte> rows);
  void sort_records();
  void spill_records();
  std::vector<Extent> extents_of(std::uint64_t bucket) const;
  void read_extents(const std::vector<Extent>& extents, RowBlock& block);
  NodeTally repeated(const RowBlock& block) const;
  bool is_refused(const RowBlock& block) const;
  void throw_if_refused(const RowBlock& block) const;
  std::string describe(const NodeTally& nodes) const;

  ScatterOptions options_;
  std::uint64_t num_added_ = 0;
  std::uint64_t end_ = 0;   // the largest destination so far, plus one
  std::uint64_t head_ = 0;  // nodes whose rows are in the file
  NodeTally repeated_in_head_;
  NodeTally missing_;
  std::unique_ptr<RowBlock> whole_;  // the matrix, if it is put together in memory

  // Otherwise: records of a destination and a row each, in the order of the source, and their
  // order by bucket. Bucket b has the nodes [b << bucket_shift_, (b + 1) << bucket_shift_).
  int bucket_shift_ = 0;
  std::uint64_t most_buckets_ = 0;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t capacity_ = 0;  // records
  std::uint64_t num_records_ = 0;
  std::unique_ptr<std::byte[]> records_;
  std::unique_ptr<std::uint32_t[]> order_;
  std::vector<std::uint32_t> bucket_begins_;
  std::uint64_t transfer_bytes_ = 0;       // room for what is on its way to or from the file,
  std::unique_ptr<std::byte[]> transfer_;  // a multiple of record_bytes_
  std::unique_ptr<SpillFile> spill_;       // none once closed
  std::vector<Run> runs_;
};

}  // namespace graphmount
