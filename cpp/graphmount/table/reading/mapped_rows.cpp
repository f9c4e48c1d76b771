// A reader that copies rows from the mapping: for files in memory.
#include <cstring>

#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {
namespace {

class MappedRows final : public RowReader {
 public:
  explicit MappedRows(const FeatureMatrix& matrix) : matrix_(&matrix) {}

  void read(std::span<const RowRead> reads) override {
    const std::uint64_t row_bytes = matrix_->row_bytes();
    const std::size_t ahead = fetched_rows(row_bytes);
    // Rows without bytes need not have anywhere to go.
    const std::size_t count = row_bytes == 0 ? 0 : reads.size();
    matrix_->mount().file().read_guarded([&] {
      const auto* rows = matrix_->mount().data<std::byte>(matrix_->matrix());
      parallel_for(count, balanced_grain(count, least_rows(row_bytes)),
                   [&](std::size_t begin, std::size_t end) {
                     for (std::size_t i = begin; i < end; ++i) {
                       if (i + ahead < end)
                         prefetch_row(rows + reads[i + ahead].row * row_bytes, row_bytes);
                       std::memcpy(reads[i].out, rows + reads[i].row * row_bytes, row_bytes);
                     }
                   });
    });
    stats_.rows += reads.size();
  }

 private:
  const FeatureMatrix* matrix_;
};

}  // namespace

std::unique_ptr<RowReader> make_mapped_rows(const FeatureMatrix& matrix) {
  return std::make_unique<MappedRows>(matrix);
}

}  // namespace graphmount
