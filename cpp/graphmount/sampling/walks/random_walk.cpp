#include "graphmount/sampling/walks/random_walk.hpp"

#include <algorithm>

#include "graphmount/base/error.hpp"
#include "graphmount/sampling/walks/walk_range.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

// Fewer walkers than this are not worth a thread: they would not hide each other's waits.
constexpr std::size_t kLeastWalkers = 64;

/// Writes walks into rows of `columns` nodes. Where a walker came by a restart, its node has the
/// bits of `restart_mark` as well.
class WalkRows {
 public:
  WalkRows(NodeId* rows, std::uint64_t columns, NodeId restart_mark)
      : rows_(rows), columns_(columns), restart_mark_(restart_mark) {}

  void visit(std::uint64_t walker, std::uint64_t step, NodeId node) {
    rows_[walker * columns_ + step] = node;
  }
  void restart(std::uint64_t walker, std::uint64_t step, NodeId node) {
    visit(walker, step, node | restart_mark_);
  }
  void rest(std::uint64_t walker, std::uint64_t step, NodeId node) {
    std::fill_n(rows_ + walker * columns_ + step, columns_ - step, node);
  }

 private:
  NodeId* rows_;
  std::uint64_t columns_;
  NodeId restart_mark_;
};

}  // namespace

ResultBuffer random_walk(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                         NodeId restart_mark) {
  require_walkable(graph, walkers, options);
  ResultBuffer out =
      allocate_result(walkers.count(), walkers.length + 1, say("walks of length ", walkers.length));
  const std::size_t grain = balanced_grain(walkers.count(), kLeastWalkers);
  read_walk_lists(graph, options, [&](const auto& lists) {
    parallel_for(walkers.count(), grain, [&](std::size_t begin, std::size_t end) {
      WalkRows sink(out->data(), walkers.length + 1, restart_mark);
      walk_range(lists, walkers, options, begin, end, sink);
    });
  });
  return out;
}

}  // namespace graphmount
