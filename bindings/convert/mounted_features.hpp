// What Python calls FeatureMatrix, and the words for its readers and dtypes.
#pragma once

#include <stdexcept>
#include <string>

#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/reading/gather.hpp"

namespace graphmount::bindings {

/// A matrix, and what gathering from it keeps between calls.
struct MountedFeatures : FeatureMatrix {
  using FeatureMatrix::FeatureMatrix;
  FeatureGather gather{*this};
};

inline ReaderKind to_reader_kind(const std::string& name) {
  for (const ReaderKind kind :
       {ReaderKind::kAuto, ReaderKind::kMapped, ReaderKind::kPread, ReaderKind::kUring})
    if (name == reader_name(kind)) return kind;
  throw std::invalid_argument("there is no reader '" + name + "'");
}

inline DType to_dtype(const std::string& name) {
  const DTypeTraits* const traits = find_dtype(name);
  if (traits == nullptr) throw std::invalid_argument("there is no dtype '" + name + "'");
  return traits->dtype;
}

}  // namespace graphmount::bindings
