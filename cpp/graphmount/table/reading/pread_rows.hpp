// A reader that has many threads wait for the disk at the same time, each in a pread: for systems
// that forbid io_uring.
#pragma once

#include <memory>

#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {

/// Past the page cache, through it, or (nothing) past it where the file system allows. Throws
/// IoError.
std::unique_ptr<RowReader> make_pread_rows(const FeatureMatrix& matrix,
                                           const ReaderOptions& options);

}  // namespace graphmount
