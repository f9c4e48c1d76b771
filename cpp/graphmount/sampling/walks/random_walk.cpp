#include "graphmount/sampling/walks/random_walk.hpp"

#include <algorithm>

#include "graphmount/sampling/walks/walk_range.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

class RowSink {
 public:
  RowSink(NodeId* out, std::uint64_t columns) : out_(out), columns_(columns) {}

  void visit(std::uint64_t walker, std::uint64_t step, NodeId node) {
    out_[walker * columns_ + step] = node;
  }
  void restart(std::uint64_t walker, std::uint64_t step, NodeId node) { visit(walker, step, node); }
  void rest(std::uint64_t walker, std::uint64_t step, NodeId node) {
    std::fill_n(out_ + walker * columns_ + step, columns_ - step, node);
  }

 private:
  NodeId* out_;
  std::uint64_t columns_;
};

}  // namespace

ResultBuffer allocate_walks(std::uint64_t num_walks, std::uint64_t length) {
  return allocate_result(num_walks, length + 1, "walks of length " + std::to_string(length));
}

void random_walk(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                 std::span<NodeId> out) {
  require_walkable(graph, walkers, options);
  const auto count = static_cast<std::int64_t>(walkers.count());
  read_walk_lists(graph, options, [&](const auto& lists) {
    parallel_for(count, balanced_grain(count, kLeastWalkers),
                 [&](std::int64_t begin, std::int64_t end) {
                   RowSink sink(out.data(), walkers.length + 1);
                   walk_range(lists, walkers, options, static_cast<std::uint64_t>(begin),
                              static_cast<std::uint64_t>(end), sink);
                 });
  });
}

}  // namespace graphmount
