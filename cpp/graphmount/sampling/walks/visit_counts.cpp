#include "graphmount/sampling/walks/visit_counts.hpp"

#include <algorithm>
#include <stdexcept>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/sampling/walks/visit_table.hpp"
#include "graphmount/sampling/walks/walk_range.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

// Walkers that go together, so that they hide each other's waits although a start may have few.
constexpr std::uint64_t kWalkersAtOnce = 256;

// The tables of a block of starts.
class CountingSink {
 public:
  CountingSink(std::vector<VisitTable>& tables, std::uint64_t first_walker, const Walkers& walkers)
      : tables_(tables), first_walker_(first_walker), walkers_(walkers) {}

  void visit(std::uint64_t walker, std::uint64_t, NodeId node) { table_of(walker).add(node, 1); }
  void restart(std::uint64_t walker, std::uint64_t, NodeId node) { table_of(walker).add(node, 1); }
  void rest(std::uint64_t walker, std::uint64_t step, NodeId node) {
    if (node == kEnded) return;
    table_of(walker).add(node, static_cast<std::int64_t>(walkers_.length + 1 - step));
  }

 private:
  VisitTable& table_of(std::uint64_t walker) {
    return tables_[(walker - first_walker_) / walkers_.walks_per_start];
  }

  std::vector<VisitTable>& tables_;
  std::uint64_t first_walker_;
  const Walkers& walkers_;
};

bool comes_first(const Visit& a, const Visit& b) {
  return a.count != b.count ? a.count > b.count : a.node < b.node;
}

}  // namespace

VisitCounts count_visits(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                         std::optional<std::uint64_t> top) {
  if (walkers.walks_per_start == 0) throw std::invalid_argument("num_walks must be at least 1");
  require_walkable(graph, walkers, options);
  const std::uint64_t num_starts = walkers.starts.size();
  const std::uint64_t block = std::max<std::uint64_t>(1, kWalkersAtOnce / walkers.walks_per_start);
  const std::uint64_t num_blocks = (num_starts + block - 1) / block;
  std::vector<std::vector<Visit>> found(num_blocks);
  VisitCounts result{std::vector<std::int64_t>(num_starts + 1), {}, {}};
  read_walk_lists(graph, options, [&](const auto& lists) {
    const std::size_t grain = balanced_grain(num_blocks, 1);
    parallel_for(num_blocks, grain, [&](std::size_t begin, std::size_t end) {
      std::vector<VisitTable> tables(block);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t first = i * block, last = std::min(num_starts, first + block);
        CountingSink sink(tables, first * walkers.walks_per_start, walkers);
        walk_range(lists, walkers, options, first * walkers.walks_per_start,
                   last * walkers.walks_per_start, sink);
        for (std::uint64_t start = first; start < last; ++start) {
          std::vector<Visit>& visits = tables[start - first].visits();
          const auto kept = std::min<std::uint64_t>(top.value_or(visits.size()), visits.size());
          const auto middle = visits.begin() + static_cast<std::ptrdiff_t>(kept);
          std::partial_sort(visits.begin(), middle, visits.end(), comes_first);
          found[i].insert(found[i].end(), visits.begin(), middle);
          result.indptr[start + 1] = static_cast<std::int64_t>(kept);
          tables[start - first].clear();
        }
      }
    });
  });
  for (std::size_t i = 0; i < num_starts; ++i) result.indptr[i + 1] += result.indptr[i];
  result.nodes.reserve(static_cast<std::size_t>(result.indptr.back()));
  result.counts.reserve(static_cast<std::size_t>(result.indptr.back()));
  for (std::vector<Visit>& visits : found) {
    check_interrupt();
    for (const Visit& visit : visits) {
      result.nodes.push_back(visit.node);
      result.counts.push_back(visit.count);
    }
    visits = {};  // so that what is copied is not there twice
  }
  return result;
}

}  // namespace graphmount
