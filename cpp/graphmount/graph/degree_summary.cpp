#include "graphmount/graph/degree_summary.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "graphmount/graph/list_view.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kExactDegrees = 1 << 16;
constexpr std::size_t kLeastNodes = 1 << 16;

// Counts of degrees: each small one by itself, the others by powers of two.
struct Counts {
  std::vector<std::int64_t> exact = std::vector<std::int64_t>(kExactDegrees, 0);
  std::array<std::int64_t, 64> by_power{};
  std::int64_t smallest = INT64_MAX, largest = 0;

  void add(std::int64_t degree) {
    const auto value = static_cast<std::uint64_t>(degree);
    if (value < kExactDegrees) ++exact[value];
    ++by_power[static_cast<std::size_t>(std::bit_width(value))];
    smallest = std::min(smallest, degree);
    largest = std::max(largest, degree);
  }

  void add(const Counts& other) {
    for (std::size_t i = 0; i < kExactDegrees; ++i) exact[i] += other.exact[i];
    for (std::size_t i = 0; i < by_power.size(); ++i) by_power[i] += other.by_power[i];
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }

  // The smallest degree that at least `count` nodes do not exceed.
  std::int64_t quantile(std::int64_t count) const {
    std::int64_t seen = 0;
    for (std::size_t degree = 0; degree < kExactDegrees; ++degree)
      if ((seen += exact[degree]) >= count) return static_cast<std::int64_t>(degree);
    for (std::size_t power = static_cast<std::size_t>(std::bit_width(kExactDegrees));
         power < by_power.size(); ++power)
      if ((seen += by_power[power]) >= count) return std::int64_t{1} << (power - 1);
    return largest;
  }
};

}  // namespace

DegreeSummary summarize_degrees(const Graph& graph, Direction direction) {
  const std::uint64_t num_nodes = graph.num_lists(direction);
  DegreeSummary summary;
  if (num_nodes == 0) return summary;
  Counts total;
  std::mutex mutex;
  read_lists(graph, direction, [&](const auto& lists) {
    parallel_for(num_nodes, balanced_grain(num_nodes, kLeastNodes),
                 [&](std::size_t begin, std::size_t end) {
                   Counts counts;
                   for (std::size_t node = begin; node < end; ++node)
                     counts.add(lists.degree(static_cast<NodeId>(node)));
                   const std::lock_guard lock(mutex);
                   total.add(counts);
                 });
  });
  summary.smallest = total.smallest;
  summary.largest = total.largest;
  summary.mean = static_cast<double>(graph.num_edges()) / static_cast<double>(num_nodes);
  const auto share = [&](std::uint64_t percent) {
    return static_cast<std::int64_t>((num_nodes * percent + 99) / 100);
  };
  summary.median = total.quantile(share(50));
  summary.ninety_percent = total.quantile(share(90));
  summary.ninety_nine_percent = total.quantile(share(99));
  summary.histogram = total.by_power;
  return summary;
}

}  // namespace graphmount
