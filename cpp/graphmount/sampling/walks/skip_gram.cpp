#include "graphmount/sampling/walks/skip_gram.hpp"

#include <algorithm>
#include <stdexcept>

#include "graphmount/base/error.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/graph/list_view.hpp"
#include "graphmount/sampling/walks/random_walk.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

// No node has this bit; a row entry has it if the walker came there by a restart.
constexpr NodeId kRestartMark = NodeId{1} << 62;
constexpr std::size_t kLeastRows = 16;
// The part of the key that negatives are drawn by: no walker has this number.
constexpr std::uint64_t kNegativeDraws = UINT64_MAX;

// Ordered pairs of different places that are at most `window` apart.
std::uint64_t pairs_of(std::uint64_t places, std::uint64_t window) {
  const std::uint64_t most = std::min(window, places - 1);
  return 2 * most * places - most * (most + 1);
}

template <class Body>
void for_each_row(std::uint64_t num_rows, const Body& body) {
  parallel_each(num_rows, balanced_grain(num_rows, kLeastRows), body);
}

// Draws list entries, and then says which nodes they are: asked for first, they come together.
template <class Index>
void draw_entries(const ListView<Index>& lists, Draws& draws, std::span<NodeId> out) {
  constexpr std::size_t kAhead = 64;
  for (std::size_t first = 0; first < out.size(); first += kAhead) {
    const auto some = out.subspan(first, std::min(kAhead, out.size() - first));
    for (NodeId& entry : some) {
      entry = static_cast<EdgeId>(draws.below(lists.num_edges()));
      lists.prefetch_neighbor(entry);
    }
    for (NodeId& entry : some) entry = lists.neighbor(entry);
  }
}

}  // namespace

SkipGramWalks::SkipGramWalks(const Graph& graph, const Walkers& walkers, const WalkOptions& options,
                             std::uint64_t window)
    : num_walks_(walkers.count()),
      columns_(walkers.length + 1),
      window_(window),
      key_(walkers.key),
      direction_(options.direction) {
  if (window == 0) throw std::invalid_argument("window must be at least 1");
  rows_ = random_walk(graph, walkers, options, kRestartMark);
  first_pair_.assign(num_walks_ + 1, 0);
  for_each_row(num_walks_, [&](std::uint64_t walker) {
    each_stretch(walker, [&](std::uint64_t begin, std::uint64_t end) {
      first_pair_[walker + 1] += pairs_of(end - begin, window_);
    });
  });
  interruptible_for(num_walks_, [&](std::size_t i) {
    const auto sum = checked_add(first_pair_[i], first_pair_[i + 1]);
    if (!sum) throw BudgetError("there are more pairs than 64 bits can count; walk in parts");
    first_pair_[i + 1] = *sum;
  });
}

template <class Use>
void SkipGramWalks::each_stretch(std::uint64_t walker, const Use& use) const {
  const NodeId* row = rows_->data() + walker * columns_;
  for (std::uint64_t begin = 0; begin < columns_ && row[begin] != kEnded;) {
    std::uint64_t end = begin + 1;
    while (end < columns_ && row[end] != kEnded && (row[end] & kRestartMark) == 0) ++end;
    use(begin, end);
    begin = end;
  }
}

void SkipGramWalks::write_pairs(std::span<NodeId> centers, std::span<NodeId> contexts) const {
  for_each_row(num_walks_, [&](std::uint64_t walker) {
    const NodeId* row = rows_->data() + walker * columns_;
    std::size_t pair = first_pair_[walker];
    each_stretch(walker, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t from = i - std::min(i - begin, window_);
        const std::uint64_t to = i + std::min(end - 1 - i, window_);
        for (std::uint64_t j = from; j <= to; ++j) {
          if (j == i) continue;
          centers[pair] = row[i] & ~kRestartMark;
          contexts[pair++] = row[j] & ~kRestartMark;
        }
      }
    });
  });
}

void SkipGramWalks::write_negatives(const Graph& graph, std::uint64_t count,
                                    NegativeWeighting weighting, std::span<NodeId> out) const {
  if (out.empty()) return;
  const auto each_walker = [&](const auto& draw) {
    for_each_row(num_walks_, [&](std::uint64_t walker) {
      Draws draws(key_.with(kNegativeDraws).with(walker));
      const std::uint64_t first = first_pair_[walker] * count;
      draw(draws, out.subspan(first, first_pair_[walker + 1] * count - first));
    });
  };
  if (weighting == NegativeWeighting::kUniform) {
    each_walker([&](Draws& draws, std::span<NodeId> some) {
      for (NodeId& node : some) node = static_cast<NodeId>(draws.below(graph.num_nodes()));
    });
    return;
  }
  if (graph.num_edges() == 0)
    throw std::invalid_argument(
        "negatives by degree cannot be drawn: the graph has no edges; draw them uniformly");
  read_lists(graph, direction_, [&](const auto& lists) {
    each_walker([&](Draws& draws, std::span<NodeId> some) { draw_entries(lists, draws, some); });
  });
}

}  // namespace graphmount
