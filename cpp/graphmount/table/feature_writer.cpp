#include "graphmount/table/feature_writer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace graphmount {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

// rows x row_bytes, or std::invalid_argument where no file can hold that.
std::uint64_t bytes_of(std::uint64_t rows, std::optional<std::uint64_t> row_bytes,
                       std::uint64_t columns) {
  const auto bytes = row_bytes ? checked_multiply(rows, *row_bytes) : std::nullopt;
  if (!bytes || *bytes > kMostBytes)
    throw std::invalid_argument(
        say("a matrix of ", rows, " x ", columns, " is too large for any file"));
  return *bytes;
}

void require_scales(const FeatureLayout& layout) {
  if (layout.scales.empty()) return;
  if (layout.dtype != DType::kInt8) throw std::invalid_argument("scales go with a matrix of int8");
  if (layout.scales.size() != layout.columns)
    throw std::invalid_argument(
        say("there are ", layout.scales.size(), " scales for ", layout.columns, " columns"));
  for (const float scale : layout.scales)
    if (!std::isfinite(scale) || scale < 0)
      throw std::invalid_argument(
          say("a scale is ", scale, ", which is not a finite number of at least 0"));
}

}  // namespace

FeatureWriter::FeatureWriter(const std::filesystem::path& path, const FeatureLayout& layout)
    : rows_(layout.rows), scales_(layout.scales) {
  const auto row_bytes = checked_multiply(layout.columns, traits_of(layout.dtype).item_bytes);
  bytes_of(rows_.value_or(1), row_bytes, layout.columns);  // which no file may exceed
  row_bytes_ = *row_bytes;
  require_scales(layout);
  Header header{.kind = FileKind::kFeatures,
                .flags = layout.one_dimensional ? kFlagOneDimensional : 0,
                .num_rows = rows_.value_or(0),
                .num_columns = layout.columns,
                .order = layout.order};
  // First, so that its place does not depend on how many rows it has.
  header.sections.push_back({.kind = SectionKind::kMatrix,
                             .dtype = layout.dtype,
                             .rows = rows_.value_or(0),
                             .columns = layout.columns});
  if (!scales_.empty())
    header.sections.push_back(
        {.kind = SectionKind::kScales, .dtype = DType::kFloat32, .rows = scales_.size()});
  writer_ = std::make_unique<FormatWriter>(path, std::move(header));
  matrix_.emplace(*writer_, 0, rows_.has_value());
}

FormatWriter& FeatureWriter::open_writer() const {
  if (!writer_) throw std::invalid_argument("the writer has been closed");
  return *writer_;
}

void FeatureWriter::append(std::span<const std::byte> data) {
  const std::lock_guard lock(mutex_);
  static_cast<void>(open_writer());
  matrix_->append(data);
}

void FeatureWriter::close() {
  const std::lock_guard lock(mutex_);
  writer_.reset();
}

void FeatureWriter::finish(std::optional<std::uint64_t> rows) {
  const std::lock_guard lock(mutex_);
  FormatWriter& writer = open_writer();
  if (!rows && !rows_) throw std::invalid_argument("nobody said how many rows the matrix has");
  if (rows && rows_ && *rows != *rows_)
    throw std::invalid_argument(say("the matrix was to have ", *rows_, " rows, but has ", *rows));
  const std::uint64_t count = rows_ ? *rows_ : *rows;
  const std::uint64_t bytes = bytes_of(count, row_bytes_, writer.header().sections.front().columns);
  if (matrix_->bytes() != bytes)
    throw std::invalid_argument(
        say("only ", matrix_->bytes(), " of ", bytes, " bytes were appended"));
  if (!rows_) writer.set_rows(0, count);
  matrix_->finish();
  if (!scales_.empty()) writer.write(1, 0, std::as_bytes(std::span(scales_)));
  writer.finish();
}

}  // namespace graphmount
