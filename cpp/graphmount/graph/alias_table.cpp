#include "graphmount/graph/alias_table.hpp"

#include <algorithm>
#include <numeric>

namespace graphmount {
namespace {

// A share of at least 1 always keeps its place; the alias of such an entry is the entry itself.
std::uint32_t to_threshold(double share) {
  return share >= 1.0 ? UINT32_MAX : static_cast<std::uint32_t>(share * 4294967296.0);
}

}  // namespace

void build_alias(std::span<const float> weights, std::span<std::uint64_t> table,
                 AliasScratch& scratch) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum <= 0.0) return std::fill(table.begin(), table.end(), kNoPick);
  const auto length = static_cast<std::uint32_t>(weights.size());
  auto& [share, small, large] = scratch;
  share.resize(length);
  small.clear();
  large.clear();
  for (std::uint32_t i = 0; i < length; ++i) {
    share[i] = static_cast<double>(weights[i]) * length / sum;
    (share[i] < 1.0 ? small : large).push_back(i);
  }
  // Rounding may leave no large entry to top up the last small ones; the largest weight serves.
  const auto heaviest = static_cast<std::uint32_t>(
      std::max_element(weights.begin(), weights.end()) - weights.begin());
  while (!small.empty()) {
    const std::uint32_t low = small.back();
    small.pop_back();
    const std::uint32_t high = large.empty() ? heaviest : large.back();
    table[low] = pack_alias(to_threshold(share[low]), high);
    if (large.empty()) continue;
    share[high] -= 1.0 - share[low];
    if (share[high] < 1.0) {
      large.pop_back();
      small.push_back(high);
    }
  }
  for (const std::uint32_t i : large) table[i] = pack_alias(UINT32_MAX, i);
}

}  // namespace graphmount
