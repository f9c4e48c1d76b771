// A reader with hundreds of reads in flight, through one io_uring: for files that are on disk.
#pragma once

#include <memory>

#include "graphmount/table/reading/row_reader.hpp"

namespace graphmount {

/// Past the page cache or through it. Throws IoError where the system or the file system does not
/// allow it.
std::unique_ptr<RowReader> make_uring_rows(const FeatureMatrix& matrix, bool direct,
                                           const ReaderOptions& options);

}  // namespace graphmount
