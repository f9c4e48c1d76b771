// What Python calls FeatureMatrix, and the words for its readers.
#pragma once

#include <stdexcept>
#include <string>

#include "graphmount/features.hpp"
#include "graphmount/gather.hpp"

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

}  // namespace graphmount::bindings
