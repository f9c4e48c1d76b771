#include "graphmount/table/feature_matrix.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/system/mapping/prefetch.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

FeatureMatrix::FeatureMatrix(const std::filesystem::path& path)
    : FeatureMatrix(MappedFile::open(path)) {}

FeatureMatrix::FeatureMatrix(std::shared_ptr<MappedFile> file)
    : mount_(std::move(file), FileKind::kFeatures),
      matrix_(mount_.header().find(SectionKind::kMatrix)),
      scales_(mount_.header().find(SectionKind::kScales)) {
  const Header& header = mount_.header();
  const std::string& name = mount_.file().path();
  if (matrix_ == nullptr) throw FormatError(name, "there is no section with a matrix");
  if (header.has(kFlagUndirected | kFlagSortedByTime | kFlagRectangular))
    throw FormatError(name, "a matrix is marked as a graph");
  for (const Section& section : header.sections) {
    if (section.direction != Direction::kNone &&
        static_cast<std::uint16_t>(section.kind) < kFirstOptionalKind)
      throw FormatError(name, "section " + section.name() + " does not belong into a matrix");
  }
  if (matrix_->rows != header.num_rows || matrix_->columns != header.num_columns)
    throw FormatError(name, "the header and the section table disagree about the shape");
  if (is_one_dimensional() && matrix_->columns != 1)
    throw FormatError(name, say("a one-dimensional table has ", matrix_->columns, " columns"));
  if (scales_ != nullptr) {
    if (matrix_->dtype != DType::kInt8)
      throw FormatError(name, "there are scales, but the matrix is not of int8");
    if (scales_->dtype != DType::kFloat32 || scales_->rows != matrix_->columns ||
        scales_->columns != 1 || scales_->bytes != scales_->rows * sizeof(float))
      throw FormatError(
          name, say("the scales are not one float32 for each of ", matrix_->columns, " columns"));
  }
}

std::vector<float> FeatureMatrix::read_scales() const {
  if (scales_ == nullptr) return {};
  return mount_.file().read_guarded([&] {
    const auto* scales = mount_.data<float>(*scales_);
    return std::vector<float>(scales, scales + scales_->rows);
  });
}

void FeatureMatrix::read_rows(std::uint64_t first, std::span<std::byte> out) const {
  if (row_bytes() == 0 ? !out.empty() : out.size() % row_bytes() != 0)
    throw std::invalid_argument(
        say("the output has ", out.size(), " bytes, which are no whole rows of ", row_bytes()));
  const std::uint64_t count = row_bytes() == 0 ? 0 : out.size() / row_bytes();
  if (first > num_rows() || count > num_rows() - first)
    throw IdError(
        say("the matrix has ", num_rows(), " rows, and not ", count, " from row ", first, " on"));
  const std::size_t grain = balanced_grain(out.size(), 1 << 18);  // worth handing to a thread
  mount_.file().read_guarded([&] {
    const std::byte* rows = mount_.data<std::byte>(*matrix_) + first * row_bytes();
    parallel_for(out.size(), grain, [&](std::size_t begin, std::size_t end) {
      std::copy(rows + begin, rows + end, out.data() + begin);
    });
  });
}

std::uint64_t FeatureMatrix::prefetch(std::span<const std::int64_t> rows) const {
  require_ids(rows, num_rows(), "row");
  std::vector<ByteRange> ranges;
  ranges.reserve(rows.size());
  interruptible_for(rows.size(), [&](std::size_t i) {
    const std::uint64_t begin = matrix_->offset + static_cast<std::uint64_t>(rows[i]) * row_bytes();
    ranges.push_back({begin, begin + row_bytes()});
  });
  return prefetch_ranges(mount_.file(), std::move(ranges));
}

}  // namespace graphmount
