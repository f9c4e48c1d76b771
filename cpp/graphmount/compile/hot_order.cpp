#include "graphmount/compile/hot_order.hpp"

#include <algorithm>
#include <vector>

#include "graphmount/base/digit_sort.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {
namespace {

constexpr int kDigitBits = 16;
constexpr std::uint32_t kDigitMask = (1U << kDigitBits) - 1;

// Moves nodes from place to place by one digit of their counts, the highest first.
template <class NodeAt>
void sort_by_count(std::span<const std::uint32_t> counts, int shift, const NodeAt& node_at,
                   std::span<NodeId> out) {
  std::vector<std::size_t> begins;
  sort_by_digit(
      counts.size(), kDigitMask + 1, begins,
      [&](std::size_t i) {
        return kDigitMask - ((counts[static_cast<std::size_t>(node_at(i))] >> shift) & kDigitMask);
      },
      [&](std::size_t i, std::size_t place) { out[place] = node_at(i); });
}

}  // namespace

void hot_order(std::span<const std::uint32_t> counts, std::span<NodeId> order) {
  const auto itself = [](std::size_t i) { return static_cast<NodeId>(i); };
  const auto most = std::max_element(counts.begin(), counts.end());
  if (most == counts.end() || *most <= kDigitMask) return sort_by_count(counts, 0, itself, order);
  Buffer<NodeId> halfway(counts.size());
  sort_by_count(counts, 0, itself, halfway.span());
  sort_by_count(counts, kDigitBits, [&](std::size_t i) { return halfway[i]; }, order);
}

}  // namespace graphmount
