#include "graphmount/sampling/neighbors/neighbor_sampler.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/graph/list_reads.hpp"
#include "graphmount/sampling/neighbors/frontier_picks.hpp"
#include "graphmount/sampling/neighbors/induced_edges.hpp"
#include "graphmount/sampling/neighbors/sample_numbers.hpp"

namespace graphmount {
namespace {

/// Memory that samples use one after the other.
struct SampleScratch {
  SampleNumbers numbers;
  FrontierScratch frontier;

  std::size_t bytes() const { return numbers.bytes() + frontier.bytes(); }
};

template <class Index>
class Sampling {
 public:
  Sampling(const ListView<Index>& lists, std::span<const std::int64_t> times,
           const SampleOptions& options)
      : lists_(lists),
        times_(times),
        options_(options),
        neighbors_(options.direction == Direction::kIn ? *out_.edge_index : *second_ends_),
        targets_(options.direction == Direction::kIn ? *second_ends_ : *out_.edge_index),
        picks_(lists, options.rule, scratch_->frontier,
               options.source_rows ? &source_rows_of(lists.graph()) : nullptr) {}

  NeighborSample run(std::span<const NodeId> seeds) {
    begin(seeds);
    for (std::size_t hop = 0; hop < options_.fanouts.size(); ++hop) sample_hop(hop);
    if (options_.induced) {
      out_.num_sampled_edges.clear();
      out_.indptr->resize(0);
      const auto find = [&](NodeId node, std::size_t target) {
        return scratch_->numbers.find(key_of(node, target));
      };
      const auto id_of = [&](EdgeId position) { return picks_.edge_id(position); };
      induce_edges(lists_, out_.nodes->span(), find, id_of, neighbors_, targets_, *out_.edge_ids);
    }
    join_ends();
    return std::move(out_);
  }

 private:
  void begin(std::span<const NodeId> seeds) {
    num_seeds_ = seeds.size();
    out_.nodes->grow(num_seeds_);
    std::copy(seeds.begin(), seeds.end(), out_.nodes->data());
    // Of the copy: the caller's array may change between two looks.
    require_ids(out_.nodes->span(), lists_.num_nodes(), "node");
    out_.num_sampled_nodes = {static_cast<std::int64_t>(num_seeds_)};
    grow_edges(0);
    out_.indptr->grow(1);
    (*out_.indptr)[0] = 0;
    out_.batch->grow(options_.disjoint ? num_seeds_ : 0);
    for (std::size_t i = 0; i < out_.batch->size(); ++i)
      (*out_.batch)[i] = static_cast<std::int64_t>(i);
    scratch_->numbers.begin(num_seeds_, [&](std::size_t i) { return key_of((*out_.nodes)[i], i); });
  }

  void sample_hop(std::size_t hop) {
    const std::size_t next = out_.nodes->size();
    const std::uint64_t num_picks =
        picks_.plan({out_.nodes->data() + frontier_, next - frontier_}, options_.fanouts[hop],
                    SampleNumbers::kMostItems - num_seeds_ - num_edges_,
                    [&](std::size_t i) { return time_of(frontier_ + i); });
    grow_edges(num_edges_ + num_picks);
    const PickedEdges picked{out_.edge_ids->data() + num_edges_, neighbors_.data() + num_edges_,
                             targets_.data() + num_edges_};
    SampleNumbers& numbers = scratch_->numbers;
    numbers.begin_hop(next, num_picks, picks_.chunks().size());
    picks_.pick(options_.key.with(hop), frontier_, picked, [&](const PickChunk& chunk) {
      const auto index = static_cast<std::size_t>(&chunk - picks_.chunks().data());
      numbers.add_chunk(index, chunk.begin, chunk.end, picked.neighbors, [&](std::size_t i) {
        return key_of(picked.neighbors[i], static_cast<std::size_t>(picked.targets[i]));
      });
    });
    const std::uint64_t num_new = numbers.num_new();
    out_.nodes->grow(next + num_new);
    if (options_.disjoint) out_.batch->grow(next + num_new);
    numbers.write(picked.targets, out_.nodes->data(),
                  options_.disjoint ? out_.batch->data() : nullptr);
    out_.indptr->grow(next + 1);
    for (std::size_t i = frontier_; i < next; ++i)
      (*out_.indptr)[i] = static_cast<std::int64_t>(num_edges_ + picks_.start(i - frontier_));
    num_edges_ += num_picks;
    (*out_.indptr)[next] = static_cast<std::int64_t>(num_edges_);
    frontier_ = next;
    out_.num_sampled_nodes.push_back(static_cast<std::int64_t>(num_new));
    out_.num_sampled_edges.push_back(static_cast<std::int64_t>(num_picks));
  }

  void grow_edges(std::size_t size) {
    out_.edge_ids->grow(size);
    neighbors_.grow(size);
    targets_.grow(size);
  }

  /// Puts the second ends behind the first ones.
  void join_ends() {
    const std::size_t num_edges = second_ends_->size();
    out_.edge_index->grow(2 * num_edges);
    std::copy_n(second_ends_->data(), num_edges, out_.edge_index->data() + num_edges);
  }

  /// What distinguishes the nodes of the sample: the id, and the tree if each seed has one.
  std::uint64_t key_of(NodeId node, std::size_t target) const {
    const auto number = static_cast<std::uint64_t>(node);
    if (!options_.disjoint) return number;
    return static_cast<std::uint64_t>((*out_.batch)[target]) * lists_.num_nodes() + number;
  }

  std::int64_t time_of(std::size_t target) const {
    return options_.rule.temporal ? times_[static_cast<std::size_t>((*out_.batch)[target])] : 0;
  }

  ListView<Index> lists_;
  std::span<const std::int64_t> times_;
  const SampleOptions& options_;
  Recycled<SampleScratch> scratch_;
  NeighborSample out_;
  ResultBuffer second_ends_;  // the destinations, until all of them are known
  Buffer<std::int64_t>&neighbors_, &targets_;
  FrontierPicks<Index> picks_;
  std::size_t num_seeds_ = 0, num_edges_ = 0;
  std::size_t frontier_ = 0;  // the first node that is new in the hop before
};

void require_fitting(const Graph& graph, std::span<const NodeId> seeds,
                     std::span<const std::int64_t> times, const SampleOptions& options) {
  const PickRule& rule = options.rule;
  if (rule.temporal && times.size() != seeds.size())
    throw std::invalid_argument(say("there are ", times.size(), " times for ", seeds.size(),
                                    " seeds; give one for each seed"));
  if (rule.temporal && !options.disjoint)
    throw std::invalid_argument("sampling in time needs disjoint=True: each seed has its own time");
  if (rule.take_last && (rule.weighted || rule.replace))
    throw std::invalid_argument(
        "the most recent neighbors are taken once each, whatever their weights: "
        "temporal_strategy='last' goes neither with weighted=True nor with replace=True");
  if (seeds.size() >= SampleNumbers::kMostItems)
    throw BudgetError("there are more than 2^32 seeds; sample fewer at a time");
  if (options.disjoint && !checked_multiply(seeds.size(), graph.num_nodes()))
    throw BudgetError("there are too many seeds for disjoint trees in a graph of this size");
}

}  // namespace

NeighborSample sample_neighbors(const Graph& graph, std::span<const NodeId> seeds,
                                std::span<const std::int64_t> times, const SampleOptions& options) {
  require_fitting(graph, seeds, times, options);
  return read_lists(graph, options.direction, [&]<class Index>(const ListView<Index>& lists) {
    return Sampling<Index>(lists, times, options).run(seeds);
  });
}

}  // namespace graphmount
