// Writes a .gd file from consecutive pieces of its matrix, so that the matrix need not be in
// memory. How many rows it has may turn out at the end. Calls of several threads wait for each
// other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graphmount/format/section_stream.hpp"

namespace graphmount {

struct FeatureLayout {
  DType dtype = DType::kFloat32;
  std::optional<std::uint64_t> rows{};  // none: `finish` is told
  std::uint64_t columns = 1;
  bool one_dimensional = false;
  std::uint64_t order = 0;
  std::vector<float> scales{};  // of a quantized matrix, one for each column; else none
};

class FeatureWriter {
 public:
  /// Throws std::invalid_argument if there can be no such file, IoError if it cannot be written.
  FeatureWriter(const std::filesystem::path& path, const FeatureLayout& layout);

  /// The next bytes of the matrix, in C order; any number of them.
  void append(std::span<const std::byte> data);

  /// Makes the file appear. `rows` is for a layout without. Throws std::invalid_argument if the
  /// matrix is not complete.
  void finish(std::optional<std::uint64_t> rows = std::nullopt);

  /// Closes the file: if it is not finished, it never appears. The object cannot be used
  /// afterwards.
  void close();

 private:
  FormatWriter& open_writer() const;

  std::mutex mutex_;
  std::unique_ptr<FormatWriter> writer_;
  std::uint64_t row_bytes_ = 0;
  std::optional<std::uint64_t> rows_;
  std::optional<SectionStream> matrix_;
  std::vector<float> scales_;
};

}  // namespace graphmount
