#include "graphmount/feature_writer.hpp"

#include <algorithm>
#include <stdexcept>

namespace graphmount {

FeatureWriter::FeatureWriter(const std::filesystem::path& path, const FeatureLayout& layout) {
  const auto cells = checked_multiply(layout.rows, layout.columns);
  const auto bytes =
      cells ? checked_multiply(*cells, traits_of(layout.dtype).item_bytes) : std::nullopt;
  if (!bytes || *bytes > (std::uint64_t{1} << 62))
    throw std::invalid_argument("a matrix of " + std::to_string(layout.rows) + " x " +
                                std::to_string(layout.columns) + " is too large for any file");
  matrix_bytes_ = *bytes;
  Header header{.kind = FileKind::kFeatures,
                .flags = layout.one_dimensional ? kFlagOneDimensional : 0,
                .num_rows = layout.rows,
                .num_columns = layout.columns,
                .order = layout.order};
  header.sections.push_back({.kind = SectionKind::kMatrix,
                             .dtype = layout.dtype,
                             .rows = layout.rows,
                             .columns = layout.columns});
  writer_ = std::make_unique<FormatWriter>(path, std::move(header));
}

void FeatureWriter::append(std::span<const std::byte> data) {
  if (data.size() > matrix_bytes_ - written_ - incomplete_.size())
    throw std::invalid_argument("more rows were appended than the matrix has");
  if (!incomplete_.empty()) {
    const std::size_t missing =
        std::min<std::size_t>(kChunkBytes - incomplete_.size(), data.size());
    incomplete_.insert(incomplete_.end(), data.begin(),
                       data.begin() + static_cast<std::ptrdiff_t>(missing));
    data = data.subspan(missing);
    if (incomplete_.size() < kChunkBytes) return;
    writer_->write(0, written_, incomplete_);
    written_ += incomplete_.size();
    incomplete_.clear();
  }
  const std::size_t whole = data.size() / kChunkBytes * kChunkBytes;
  writer_->write(0, written_, data.first(whole));
  written_ += whole;
  const auto rest = data.subspan(whole);
  incomplete_.assign(rest.begin(), rest.end());
}

void FeatureWriter::finish() {
  if (written_ + incomplete_.size() != matrix_bytes_)
    throw std::invalid_argument("only " + std::to_string(written_ + incomplete_.size()) + " of " +
                                std::to_string(matrix_bytes_) + " bytes were appended");
  writer_->write(0, written_, incomplete_);
  writer_->finish();
}

}  // namespace graphmount
