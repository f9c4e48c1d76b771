// What Python calls FeatureMatrix, and the words for its readers and dtypes.
#pragma once

#include <cstddef>
#include <iterator>

#include "convert/words.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/reading/gather.hpp"

namespace graphmount::bindings {

/// A matrix, and what gathering from it keeps between calls.
struct MountedFeatures : FeatureMatrix {
  using FeatureMatrix::FeatureMatrix;
  FeatureGather gather{*this};
};

inline std::size_t num_dimensions(const FeatureMatrix& features) {
  return features.is_one_dimensional() ? 1 : 2;
}

template <>
inline constexpr auto kWords<ReaderKind> =
    make_words<ReaderKind>("reader", {{"auto", ReaderKind::kAuto},
                                      {"mapped", ReaderKind::kMapped},
                                      {"pread", ReaderKind::kPread},
                                      {"uring", ReaderKind::kUring}});

template <>
inline constexpr auto kWords<DType> = [] {
  WordTable<DType, std::size(kDTypes)> table{"dtype", {}};
  for (std::size_t i = 0; i < table.words.size(); ++i)
    table.words[i] = {kDTypes[i].name, kDTypes[i].dtype};
  return table;
}();

}  // namespace graphmount::bindings
