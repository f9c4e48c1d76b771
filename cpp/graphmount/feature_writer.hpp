// Writes a .gd file from consecutive pieces of its matrix, so that the matrix need not be in
// memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graphmount/format_writer.hpp"

namespace graphmount {

struct FeatureLayout {
  DType dtype = DType::kFloat32;
  std::uint64_t rows = 0;
  std::uint64_t columns = 1;
  bool one_dimensional = false;
  std::uint64_t order = 0;
};

class FeatureWriter {
 public:
  FeatureWriter(const std::filesystem::path& path, const FeatureLayout& layout);

  /// The next bytes of the matrix, in C order; any number of them.
  void append(std::span<const std::byte> data);

  /// Makes the file appear. Throws std::invalid_argument if the matrix is not complete.
  void finish();

 private:
  std::unique_ptr<FormatWriter> writer_;
  std::uint64_t matrix_bytes_ = 0;
  std::uint64_t written_ = 0;          // a multiple of kChunkBytes until the end
  std::vector<std::byte> incomplete_;  // the beginning of the next chunk
};

}  // namespace graphmount
