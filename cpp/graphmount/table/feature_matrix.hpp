// A mounted feature matrix (.gd).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "graphmount/format/mount.hpp"

namespace graphmount {

class FeatureMatrix {
 public:
  /// Checks that the sections are those of a matrix. Throws FormatError, IoError.
  explicit FeatureMatrix(const std::filesystem::path& path);
  explicit FeatureMatrix(std::shared_ptr<MappedFile> file);

  const Mount& mount() const { return mount_; }
  const Section& matrix() const { return *matrix_; }
  std::uint64_t num_rows() const { return matrix_->rows; }
  std::uint64_t row_bytes() const {
    return matrix_->columns * traits_of(matrix_->dtype).item_bytes;
  }
  /// One for each column of a quantized matrix, whose values are int8 times scale; nullptr if the
  /// matrix is not quantized.
  const Section* scales() const { return scales_; }
  /// A copy of the scales; empty if there are none. Throws FileChangedError.
  std::vector<float> read_scales() const;
  /// Copies the rows from `first` on, as many as `out` has place for. Throws IdError if there are
  /// not so many, std::invalid_argument if `out` is not whole rows, FileChangedError.
  void read_rows(std::uint64_t first, std::span<std::byte> out) const;
  bool is_one_dimensional() const { return mount_.header().has(kFlagOneDimensional); }

  /// Asks the system to read these rows ahead; returns at once, with the bytes asked for. Throws
  /// IdError for a row that does not exist.
  std::uint64_t prefetch(std::span<const std::int64_t> rows) const;

 private:
  Mount mount_;
  const Section* matrix_;
  const Section* scales_;
};

}  // namespace graphmount
