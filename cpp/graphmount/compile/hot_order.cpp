#include "graphmount/compile/hot_order.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {
namespace {

constexpr int kDigitBits = 16;
constexpr std::uint32_t kDigitMask = (1U << kDigitBits) - 1;

// Moves nodes from place to place by one digit of their counts, the highest first, and keeps the
// order of those that are alike.
template <class NodeAt>
void sort_by_digit(std::span<const std::uint32_t> counts, int shift, const NodeAt& node_at,
                   std::span<NodeId> out) {
  const auto digit = [&](NodeId node) {
    return kDigitMask - ((counts[static_cast<std::size_t>(node)] >> shift) & kDigitMask);
  };
  std::vector<std::size_t> next(kDigitMask + 1, 0);
  interruptible_for(counts.size(), [&](std::size_t i) { ++next[digit(node_at(i))]; });
  std::size_t total = 0;
  for (std::size_t& place : next) total += std::exchange(place, total);
  interruptible_for(counts.size(), [&](std::size_t i) {
    const NodeId node = node_at(i);
    out[next[digit(node)]++] = node;
  });
}

}  // namespace

void hot_order(std::span<const std::uint32_t> counts, std::span<NodeId> order) {
  const auto itself = [](std::size_t i) { return static_cast<NodeId>(i); };
  const auto most = std::max_element(counts.begin(), counts.end());
  if (most == counts.end() || *most <= kDigitMask) return sort_by_digit(counts, 0, itself, order);
  Buffer<NodeId> halfway(counts.size());
  sort_by_digit(counts, 0, itself, halfway.span());
  sort_by_digit(counts, kDigitBits, [&](std::size_t i) { return halfway[i]; }, order);
}

}  // namespace graphmount
