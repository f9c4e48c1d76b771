// Gathers rows by their ids, in any order and with repetitions, and converts them to the requested
// dtype.
//
// Rows in memory are copied straight from the mapping. Rows on disk are read in sorted order, each
// once, in pieces. So the memory needed besides the output does not grow with the number of ids: at
// most 20 MiB a call (or one row, if that is longer), kept for the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/reading/row_reader.hpp"
#include "graphmount/table/row_conversion.hpp"

namespace graphmount {

/// Gathers from one matrix, from any number of threads at a time, and in a child of fork.
class FeatureGather {
 public:
  /// Reads nothing yet. `matrix` must live as long.
  explicit FeatureGather(const FeatureMatrix& matrix);
  ~FeatureGather();
  FeatureGather(const FeatureGather&) = delete;
  FeatureGather& operator=(const FeatureGather&) = delete;

  /// Row ids[i] goes to place i of `out`, which holds rows of `dtype`. Throws IdError,
  /// std::invalid_argument (no such conversion, or another size of `out`), IoError,
  /// FileChangedError.
  void gather(std::span<const std::int64_t> ids, DType dtype, std::span<std::byte> out,
              ReaderKind kind) const;

 private:
  using Idle = std::pair<ReaderKind, std::unique_ptr<RowReader>>;

  std::unique_ptr<RowReader> take_reader(ReaderKind kind) const;
  void give_back(ReaderKind kind, std::unique_ptr<RowReader> reader) const;
  void gather_mapped(std::span<const std::int64_t> ids, const RowConversion& conversion,
                     std::byte* out) const;
  void gather_read(std::span<const std::int64_t> ids, const RowConversion& conversion,
                   std::byte* out, RowReader& reader) const;

  const FeatureMatrix* matrix_;
  mutable FileResidency residency_;
  mutable std::vector<Idle> idle_;  // readers that wait for the next call
};

}  // namespace graphmount
