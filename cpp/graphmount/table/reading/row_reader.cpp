#include "graphmount/table/reading/row_reader.hpp"

#include <cerrno>

#include "graphmount/base/error.hpp"

namespace graphmount {
namespace {

class AutoRows final : public RowReader {
 public:
  AutoRows(const FeatureMatrix& matrix, const ReaderOptions& options)
      : matrix_(&matrix),
        options_(options),
        residency_(matrix.mount().file()),
        mapped_(make_mapped_rows(matrix)) {}

  void read(std::span<const RowRead> reads) override {
    if (reads_mapping(ReaderKind::kAuto, residency_))
      mapped_->read(reads);
    else
      read_from_disk(reads);
    stats_.rows += reads.size();
  }

  std::size_t bytes() const override { return disk_ ? disk_->bytes() : 0; }

 private:
  void read_from_disk(std::span<const RowRead> reads) {
    if (!disk_) disk_ = make_disk_reader(*matrix_, options_);
    try {
      disk_->read(reads);
    } catch (const IoError& error) {
      // Rings were forbidden after this one was made, as sandboxes do it: there is another way.
      if (error.code() != EPERM && error.code() != EACCES && error.code() != ENOSYS) throw;
      disk_ = make_pread_rows(*matrix_, options_);
      disk_->read(reads);
    }
    const std::uint64_t rows = stats_.rows;
    stats_ = disk_->stats();
    stats_.rows = rows;
  }

  const FeatureMatrix* matrix_;
  ReaderOptions options_;
  FileResidency residency_;
  std::unique_ptr<RowReader> mapped_;
  std::unique_ptr<RowReader> disk_;  // made when it is needed
};

}  // namespace

std::unique_ptr<RowReader> make_row_reader(const FeatureMatrix& matrix, ReaderKind kind,
                                           const ReaderOptions& options) {
  switch (kind) {
    case ReaderKind::kAuto:
      return std::make_unique<AutoRows>(matrix, options);
    case ReaderKind::kMapped:
      return make_mapped_rows(matrix);
    case ReaderKind::kPread:
      return make_pread_rows(matrix, options);
    case ReaderKind::kUring:
      return make_uring_rows(matrix, options.direct.value_or(true), options);
  }
  throw std::invalid_argument("there is no such reader");
}

std::unique_ptr<RowReader> make_disk_reader(const FeatureMatrix& matrix,
                                            const ReaderOptions& options) {
  // Through the page cache, threads that wait are faster than a ring (113 k rows/s against 78 k),
  // and the file will soon be in memory.
  const bool direct = options.direct.value_or(matrix.mount().advice() == Advice::kRandom);
  try {
    if (direct) return make_uring_rows(matrix, true, options);
  } catch (const IoError&) {
    // Not allowed here.
  }
  try {
    ReaderOptions pread_options = options;
    if (!direct) pread_options.direct = false;
    return make_pread_rows(matrix, pread_options);
  } catch (const IoError&) {
    if (options.direct) throw;
    return make_mapped_rows(matrix);  // no descriptors left, for one: slow, but it works
  }
}

std::optional<std::string> why_no_reader(const FeatureMatrix& matrix, ReaderKind kind) {
  try {
    make_row_reader(matrix, kind);
    return std::nullopt;
  } catch (const IoError& error) {
    return error.what();
  }
}

}  // namespace graphmount
