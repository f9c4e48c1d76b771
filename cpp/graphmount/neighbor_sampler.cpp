#include "graphmount/neighbor_sampler.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "graphmount/error.hpp"
#include "graphmount/ids.hpp"
#include "graphmount/induced_edges.hpp"
#include "graphmount/page_requests.hpp"
#include "graphmount/parallel.hpp"
#include "graphmount/sample_numbers.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kChunkEdges = 8192;  // what one thread picks and reads at a time
constexpr std::uint64_t kChunkEdgesFromDisk = 1024;
constexpr std::size_t kBlockNodes = 32;  // lists whose memory is fetched at the same time
constexpr std::int64_t kFrontierGrain = 2048;

/// Nodes of the frontier whose picks are the work of one thread.
struct Chunk {
  std::size_t first_node, end_node;
};

/// Memory that samples use one after the other.
struct SampleScratch {
  SampleNumbers numbers;
  PageRequests requests;
  Buffer<ListRange> ranges;      // of the frontier's lists, what can be picked from
  Buffer<std::uint64_t> counts;  // picks of each node of the frontier
  Buffer<std::uint64_t> starts;  // where they begin, among the picks of the hop
  std::vector<Chunk> chunks;

  std::size_t bytes() const {
    return numbers.bytes() + requests.bytes() + ranges.bytes() + counts.bytes() + starts.bytes();
  }
};

template <class Index>
class Sampling {
 public:
  Sampling(const ListView<Index>& lists, std::span<const std::int64_t> times,
           const SampleOptions& options)
      : lists_(lists),
        picker_(lists, options.rule),
        times_(times),
        options_(options),
        announces_(lists.graph().resident_pages().wants_requests()) {
    if (lists.graph().edge_id_direction() != lists.stored_direction())
      edge_ids_ = lists.graph().find(SectionKind::kEdgeIds, lists.stored_direction());
  }

  NeighborSample run(std::span<const NodeId> seeds) {
    begin(seeds);
    for (std::size_t hop = 0; hop < options_.fanouts.size(); ++hop) {
      const std::size_t end = out_.nodes->size();
      find_ranges(hop);
      place_picks();
      pick_neighbors(hop);
      number_nodes();
      frontier_ = end;
      out_.num_sampled_nodes.push_back(static_cast<std::int64_t>(out_.nodes->size() - end));
    }
    if (options_.edges == SampledEdges::kInduced) {
      out_.num_sampled_edges.clear();
      induce_edges(
          lists_, edge_ids_, out_.nodes->span(),
          [&](NodeId node, std::size_t target) {
            return scratch_->numbers.find(key_of(node, target));
          },
          *out_.neighbors, *out_.targets, *out_.edge_ids);
    }
    return std::move(out_);
  }

 private:
  std::size_t frontier_size() const { return out_.nodes->size() - frontier_; }

  /// What tells one node of the sample from another: also its tree, if each seed has one.
  std::uint64_t key_of(NodeId node, std::size_t target) const {
    const auto number = static_cast<std::uint64_t>(node);
    if (!options_.disjoint) return number;
    return static_cast<std::uint64_t>((*out_.batch)[target]) * lists_.num_nodes() + number;
  }

  std::int64_t time_of(std::size_t target) const {
    return options_.rule.temporal ? times_[static_cast<std::size_t>((*out_.batch)[target])] : 0;
  }

  void begin(std::span<const NodeId> seeds) {
    out_.nodes->grow(seeds.size());
    std::copy(seeds.begin(), seeds.end(), out_.nodes->data());
    out_.num_sampled_nodes = {static_cast<std::int64_t>(seeds.size())};
    grow_edges(0);
    out_.batch->grow(options_.disjoint ? seeds.size() : 0);
    for (std::size_t i = 0; i < out_.batch->size(); ++i)
      (*out_.batch)[i] = static_cast<std::int64_t>(i);
    scratch_->numbers.begin(seeds.size(), [&](std::size_t i) { return key_of(seeds[i], i); });
    num_seeds_ = seeds.size();
  }

  void grow_edges(std::size_t size) {
    out_.edge_ids->grow(size);
    out_.neighbors->grow(size);
    out_.targets->grow(size);
  }

  /// Finds what each node of the frontier can pick from, and how many picks that gives.
  void find_ranges(std::size_t hop) {
    const NodeId* const nodes = out_.nodes->data() + frontier_;
    scratch_->ranges.resize(frontier_size());
    scratch_->counts.resize(frontier_size());
    const std::uint64_t k = options_.fanouts[hop];
    const auto find = [&](std::size_t first, std::size_t last) {
      for_range(first, last, kFrontierGrain, [&](std::size_t begin, std::size_t end) {
        constexpr std::size_t kAhead = 32;
        for (std::size_t i = begin; i < end; ++i) {
          if (i + kAhead < end) lists_.prefetch_range(nodes[i + kAhead]);
          scratch_->ranges[i] = picker_.eligible(nodes[i], time_of(frontier_ + i));
          scratch_->counts[i] = picker_.count(scratch_->ranges[i], k);
        }
      });
    };
    if (!announces_) return find(0, frontier_size());
    PageRequests& requests = scratch_->requests;
    requests.begin(lists_.graph().resident_pages());
    const auto add_offsets = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) ask(SectionKind::kIndptr, nodes[i], nodes[i] + 2);
    };
    requests.in_ranges(
        frontier_size(), kPagesAtOnce, add_offsets, [&](std::size_t first, std::size_t last) {
          if (options_.rule.weighted || options_.rule.temporal) {
            for (std::size_t i = first; i < last; ++i)
              picker_.visit_counted(nodes[i], k, [&](auto... pages) { ask(pages...); });
            requests.start();
          }
          find(first, last);
        });
    requests.finish();
  }

  /// Gives the picks of each node their places in the result, and cuts the frontier into chunks.
  void place_picks() {
    auto& starts = scratch_->starts;
    auto& chunks = scratch_->chunks;
    starts.resize(frontier_size() + 1);
    chunks.clear();
    const std::uint64_t chunk_edges = announces_ ? kChunkEdgesFromDisk : kChunkEdges;
    const std::uint64_t room = SampleNumbers::kMostItems - num_seeds_ - num_edges_;
    std::uint64_t sum = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < frontier_size(); ++i) {
      starts[i] = sum;
      if (scratch_->counts[i] > room - sum)
        throw BudgetError(
            "the sample has more than 2^32 edges; sample fewer seeds at a time, or fewer neighbors "
            "of each node");
      sum += scratch_->counts[i];
      if (sum - starts[first] >= chunk_edges) {
        chunks.push_back({first, i + 1});
        first = i + 1;
      }
    }
    if (first < frontier_size()) chunks.push_back({first, frontier_size()});
    starts[frontier_size()] = sum;
    out_.num_sampled_edges.push_back(static_cast<std::int64_t>(sum));
    grow_edges(num_edges_ + sum);
  }

  /// Picks the neighbors of the whole frontier. If they are in memory, that of some is on its way
  /// while others are picked. If not, all positions are picked first, and then pages are.
  void pick_neighbors(std::size_t hop) {
    const RandomKey key = options_.key.with(hop);
    const std::uint64_t k = options_.fanouts[hop];
    scratch_->numbers.begin_hop(scratch_->starts[frontier_size()], scratch_->chunks.size());
    if (announces_) return pick_from_disk(k, key);
    for_chunks(0, scratch_->chunks.size(), [&](const Chunk& chunk) {
      std::size_t picked = chunk.first_node;
      const auto pick_block = [&] {
        const std::size_t end = std::min(picked + kBlockNodes, chunk.end_node);
        for (; picked < end; ++picked) pick_list(picked, k, key);
      };
      pick_block();
      for (std::size_t read = chunk.first_node; read < chunk.end_node;) {
        const std::size_t end = picked;
        pick_block();
        for (; read < end; ++read) read_list(read);
      }
      hand_in(chunk);
    });
  }

  void pick_from_disk(std::uint64_t k, RandomKey key) {
    PageRequests& requests = scratch_->requests;
    requests.begin(lists_.graph().resident_pages());
    const auto pick = [&](std::size_t first, std::size_t last) {
      for_chunks(first, last, [&](const Chunk& chunk) {
        for (std::size_t i = chunk.first_node; i < chunk.end_node; ++i) pick_list(i, k, key);
      });
    };
    const std::size_t num_chunks = scratch_->chunks.size();
    const std::size_t chunks_at_once = kPagesAtOnce / kChunkEdgesFromDisk;
    if (options_.rule.weighted) {
      requests.in_ranges(
          num_chunks, chunks_at_once,
          [&](std::size_t first, std::size_t last) {
            for_nodes(first, last, [&](std::size_t i) {
              picker_.visit_picked((*out_.nodes)[frontier_ + i], scratch_->ranges[i],
                                   scratch_->counts[i], k, Draws(key.with(frontier_ + i)),
                                   [&](auto... pages) { ask(pages...); });
            });
          },
          pick);
    } else {
      pick(0, num_chunks);
    }
    requests.in_ranges(
        num_chunks, chunks_at_once,
        [&](std::size_t first, std::size_t last) {
          for_nodes(first, last, [&](std::size_t i) { ask_for_picks(i); });
        },
        [&](std::size_t first, std::size_t last) {
          for_chunks(first, last, [&](const Chunk& chunk) {
            for (std::size_t i = chunk.first_node; i < chunk.end_node; ++i) read_list(i);
            hand_in(chunk);
          });
        });
    requests.finish();
  }

  void ask_for_picks(std::size_t at) {
    const EdgeId* const positions = out_.edge_ids->data() + num_edges_ + scratch_->starts[at];
    for (std::uint64_t pick = 0; pick < scratch_->counts[at]; ++pick) {
      ask(SectionKind::kIndices, positions[pick], positions[pick] + 1);
      if (edge_ids_ != nullptr) ask(SectionKind::kEdgeIds, positions[pick], positions[pick] + 1);
    }
  }

  /// Gives the picked nodes of a chunk to be numbered.
  void hand_in(const Chunk& chunk) {
    const std::int64_t* const neighbors = out_.neighbors->data() + num_edges_;
    const std::int64_t* const targets = out_.targets->data() + num_edges_;
    const auto index = static_cast<std::size_t>(&chunk - scratch_->chunks.data());
    scratch_->numbers.add_chunk(
        index, scratch_->starts[chunk.first_node], scratch_->starts[chunk.end_node],
        [&](std::size_t i) { return key_of(neighbors[i], static_cast<std::size_t>(targets[i])); });
  }

  void pick_list(std::size_t at, std::uint64_t k, RandomKey key) {
    thread_local PickScratch pick_scratch;
    const std::size_t target = frontier_ + at;
    EdgeId* const positions = out_.edge_ids->data() + num_edges_ + scratch_->starts[at];
    const std::uint64_t count = scratch_->counts[at];
    picker_.pick((*out_.nodes)[target], scratch_->ranges[at], count, k, Draws(key.with(target)),
                 pick_scratch, positions);
    for (std::uint64_t i = 0; i < count; ++i) lists_.prefetch_neighbor(positions[i]);
  }

  void read_list(std::size_t at) {
    const std::size_t begin = num_edges_ + scratch_->starts[at];
    const std::size_t end = num_edges_ + scratch_->starts[at + 1];
    std::int64_t* const edge_ids = out_.edge_ids->data();
    std::int64_t* const neighbors = out_.neighbors->data();
    std::int64_t* const targets = out_.targets->data();
    for (std::size_t edge = begin; edge < end; ++edge) {
      neighbors[edge] = lists_.neighbor(edge_ids[edge]);
      targets[edge] = static_cast<std::int64_t>(frontier_ + at);
    }
    if (edge_ids_ == nullptr) return;
    for (std::size_t edge = begin; edge < end; ++edge)
      edge_ids[edge] = lists_.edge_id(*edge_ids_, edge_ids[edge]);
  }

  void number_nodes() {
    const std::uint64_t num_picks = scratch_->starts[frontier_size()];
    const std::uint64_t num_new = scratch_->numbers.find_new();
    const std::size_t next = out_.nodes->size();
    out_.nodes->grow(next + num_new);
    if (options_.disjoint) out_.batch->grow(next + num_new);
    scratch_->numbers.write(next, out_.neighbors->data() + num_edges_,
                            out_.targets->data() + num_edges_, out_.nodes->data(),
                            options_.disjoint ? out_.batch->data() : nullptr);
    num_edges_ += num_picks;
  }

  void ask(SectionKind kind, std::int64_t begin, std::int64_t end) {
    const Section& section = *lists_.graph().find(kind, lists_.stored_direction());
    scratch_->requests.add(section, traits_of(section.dtype).item_bytes, begin, end);
  }

  /// Calls body(begin, end) for ranges of nodes of the frontier.
  template <class Body>
  void for_range(std::size_t first, std::size_t last, std::int64_t least, const Body& body) {
    const auto count = static_cast<std::int64_t>(last - first);
    parallel_for(count, balanced_grain(count, least), [&](std::int64_t begin, std::int64_t end) {
      body(first + static_cast<std::size_t>(begin), first + static_cast<std::size_t>(end));
    });
  }

  template <class Body>
  void for_chunks(std::size_t first, std::size_t last, const Body& body) {
    for_range(first, last, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) body(scratch_->chunks[i]);
    });
  }

  /// Calls body for each node of some chunks.
  template <class Body>
  void for_nodes(std::size_t first, std::size_t last, const Body& body) {
    for_chunks(first, last, [&](const Chunk& chunk) {
      for (std::size_t i = chunk.first_node; i < chunk.end_node; ++i) body(i);
    });
  }

  ListView<Index> lists_;
  ListPicker<Index> picker_;
  std::span<const std::int64_t> times_;
  const SampleOptions& options_;
  bool announces_;                     // reads, because they come from disk
  const Section* edge_ids_ = nullptr;  // where positions are not the ids of edges
  Recycled<SampleScratch> scratch_;
  NeighborSample out_;
  std::size_t num_seeds_ = 0, num_edges_ = 0, frontier_ = 0;
};

void require_fitting(const Graph& graph, std::span<const NodeId> seeds,
                     std::span<const std::int64_t> times, const SampleOptions& options) {
  const PickRule& rule = options.rule;
  if (rule.temporal && times.size() != seeds.size())
    throw std::invalid_argument("there are " + std::to_string(times.size()) + " times for " +
                                std::to_string(seeds.size()) + " seeds; give one for each seed");
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
  require_ids(seeds, graph.num_nodes(), "node");
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
