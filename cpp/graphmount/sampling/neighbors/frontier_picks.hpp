// The picks of one hop: some neighbors of each of many nodes, all at once and in parallel, from the
// lists of one graph.
//
// `plan` finds how many each node will get, and so where they go; `pick` writes them there. If the
// lists are in memory, those of some nodes are on their way to the processor while others are
// picked from. If they are on disk, all positions are picked first, and then only the pages in
// which these lie are read, many at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graphmount/base/fetch.hpp"
#include "graphmount/graph/page_requests.hpp"
#include "graphmount/sampling/neighbors/early_picks.hpp"
#include "graphmount/sampling/neighbors/hop_picks.hpp"
#include "graphmount/sampling/neighbors/induced_edges.hpp"
#include "graphmount/sampling/neighbors/list_picker.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {

/// Memory that hops use one after the other.
struct FrontierScratch {
  PageRequests requests;
  Buffer<ListRange> ranges;      // of each list, what can be picked from
  Buffer<std::uint64_t> counts;  // picks of each node
  Buffer<std::uint64_t> starts;  // where they begin
  std::vector<PickChunk> chunks;
  EarlyMemory early;  // where the times of neighbors count

  std::size_t bytes() const {
    return requests.bytes() + ranges.bytes() + counts.bytes() + starts.bytes() + early.bytes();
  }
};

template <class Index>
class FrontierPicks final : public HopPicks {
 public:
  /// `source_rows` is the section that has the rows which edges had in the source, if these will be
  /// looked up for the picks, else nullptr: they are read from disk together with what is picked.
  /// `neighbor_times` has the time of each node that a neighbor can be, if those are to count and
  /// not the times of edges, else nullptr.
  FrontierPicks(const ListView<Index>& lists, PickRule rule, FrontierScratch& scratch,
                const Section* source_rows = nullptr, const std::int64_t* neighbor_times = nullptr)
      : lists_(lists),
        picker_(lists, rule),
        scratch_(scratch),
        asks_for_rows_(source_rows != nullptr),
        neighbor_times_(neighbor_times) {
    const Graph& graph = lists.graph();
    const auto find = [&](SectionKind kind, bool is_read) {
      return is_read ? graph.find(kind, lists.stored_direction()) : nullptr;
    };
    const Section* const edge_ids =
        find(SectionKind::kEdgeIds, graph.edge_id_direction() != lists.stored_direction());
    edge_ids_ = {graph.mount(), edge_ids};
    const Section* const sections[] = {find(SectionKind::kIndptr, true),
                                       find(SectionKind::kIndices, true),
                                       find(SectionKind::kWeights, rule.weighted),
                                       find(SectionKind::kAlias, rule.weighted),
                                       find(SectionKind::kTimestamps, rule.temporal),
                                       edge_ids,
                                       source_rows};
    announces_ = graph.resident_pages().wants_requests(sections);
    if (neighbor_times != nullptr) early_.emplace(lists, rule, neighbor_times, scratch.early);
  }

  EdgeId edge_id(EdgeId position) const {
    return edge_ids_ ? lists_.edge_id(edge_ids_, position) : position;
  }

  std::uint64_t plan(const HopTargets& targets, std::uint64_t k, std::uint64_t most) override {
    is_in_rows_ = false;
    find_counts(targets, k, most);
    return place(most);
  }

  /// Plans `k` places for each node, node by node, of which it fills the first as far as it can.
  void plan_rows(const HopTargets& targets, std::uint64_t k) {
    is_in_rows_ = true;
    find_counts(targets, k, UINT64_MAX);
    place(UINT64_MAX);
  }

  /// How many picks the node at a place has.
  std::uint64_t num_picks(std::size_t at) const { return scratch_.counts[at]; }

  std::span<const std::uint64_t> starts() const override { return scratch_.starts.span(); }
  std::span<const PickChunk> chunks() const override { return scratch_.chunks; }

  void pick(PickedEdges out, const ChunkDone& done) override {
    out_ = out;
    if (announces_) return pick_from_disk(done);
    for_chunks(0, chunks().size(), [&](const PickChunk& chunk) {
      std::size_t picked = chunk.first_node;
      const auto pick_block = [&] {
        const std::size_t end = std::min(picked + kBlockNodes, chunk.end_node);
        for (; picked < end; ++picked) pick_list(picked);
      };
      pick_block();
      for (std::size_t read = chunk.first_node; read < chunk.end_node;) {
        const std::size_t end = picked;
        pick_block();
        for (; read < end; ++read) read_list(read);
      }
      done(chunk);
    });
  }

  void induce(const HopTargets& targets, std::span<const NodeId> neighbors,
              const SampleNumbers& numbers, const NodeKeys& keys, InducedEdges out) const override {
    const auto range_of = [&](std::size_t target) {
      return picker_.eligible(targets.nodes[target], targets.times.of(target));
    };
    const auto find = [&](NodeId node, std::size_t target) -> std::optional<std::uint32_t> {
      if (neighbor_times_ != nullptr &&
          read_once(neighbor_times_ + node) > targets.times.of(target))
        return std::nullopt;
      return numbers.find(keys.key(node, target));
    };
    induce_edges(
        lists_, targets.nodes, neighbors, range_of, find,
        [&](EdgeId position) { return edge_id(position); }, out);
  }

 private:
  static constexpr std::size_t kChunkEdges = 8192;
  static constexpr std::size_t kChunkEdgesFromDisk = 1024;
  static constexpr std::size_t kBlockNodes = 32;  // lists that are fetched at the same time
  static constexpr std::size_t kPlanGrain = 2048;

  /// Finds how many picks each node will have.
  void find_counts(const HopTargets& targets, std::uint64_t k, std::uint64_t most) {
    nodes_ = targets.nodes;
    targets_ = targets;
    k_ = k;
    scratch_.ranges.resize(nodes_.size());
    scratch_.counts.resize(nodes_.size());
    if (early_) early_->begin(targets, k, most, scratch_.counts.span());
    const auto find = [&](std::size_t first, std::size_t last) {
      if (early_)
        early_->find(first, last);
      else
        find_ranges(targets.times, first, last);
    };
    if (announces_)
      find_from_disk(find);
    else
      find(0, nodes_.size());
  }

  void find_ranges(TargetTimes times, std::size_t first, std::size_t last) {
    const std::size_t grain = balanced_grain(last - first, kPlanGrain);
    parallel_for(last - first, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = first + begin; i < first + end; ++i) {
        if (i + kFetchedLines < first + end) lists_.prefetch_range(nodes_[i + kFetchedLines]);
        scratch_.ranges[i] = picker_.eligible(nodes_[i], times.of(i));
        scratch_.counts[i] = picker_.count(scratch_.ranges[i], k_);
      }
    });
  }

  /// Gives each node places for its picks, or a row, and cuts the nodes into chunks.
  std::uint64_t place(std::uint64_t most) {
    const std::size_t chunk_edges = announces_ ? kChunkEdgesFromDisk : kChunkEdges;
    scratch_.starts.resize(nodes_.size());
    scratch_.chunks.clear();
    std::uint64_t sum = 0, first = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      scratch_.starts[i] = sum;
      const std::uint64_t count = is_in_rows_ ? k_ : scratch_.counts[i];
      if (count > most - sum) refuse_num_picks();
      sum += count;
      if (sum - scratch_.starts[first] >= chunk_edges || i + 1 == nodes_.size()) {
        scratch_.chunks.push_back({first, i + 1, scratch_.starts[first], sum});
        first = i + 1;
      }
    }
    return sum;
  }

  void pick_list(std::size_t at) {
    thread_local PickScratch pick_scratch;
    EdgeId* const positions = positions_of(at);
    const std::uint64_t count = scratch_.counts[at];
    if (early_)
      std::copy_n(early_->picks_of(at), count, positions);
    else
      picker_.pick(nodes_[at], scratch_.ranges[at], count, k_, targets_.draws_of(at), pick_scratch,
                   positions);
    for (std::uint64_t i = 0; i < count; ++i) lists_.prefetch_neighbor(positions[i]);
  }

  void read_list(std::size_t at) {
    EdgeId* const positions = positions_of(at);
    std::int64_t* const neighbors = out_.neighbors + scratch_.starts[at];
    const std::uint64_t count = scratch_.counts[at];
    for (std::uint64_t i = 0; i < count; ++i) neighbors[i] = lists_.neighbor(positions[i]);
    if (is_in_rows_) return;
    std::fill_n(out_.targets + scratch_.starts[at], count,
                static_cast<std::int64_t>(targets_.first + at));
    if (!edge_ids_) return;
    for (std::uint64_t i = 0; i < count; ++i) positions[i] = edge_id(positions[i]);
  }

  /// Where the positions of a node's picks are, until ids of edges or neighbors take their places.
  EdgeId* positions_of(std::size_t at) const {
    return (is_in_rows_ ? out_.neighbors : out_.edge_ids) + scratch_.starts[at];
  }

  template <class Find>
  void find_from_disk(const Find& find) {
    PageRequests& requests = scratch_.requests;
    requests.begin(lists_.graph().resident_pages());
    const auto ask_for_offsets = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
        ask(SectionKind::kIndptr, nodes_[i], nodes_[i] + 2);
    };
    requests.in_ranges(nodes_.size(), kPagesAtOnce, ask_for_offsets,
                       [&](std::size_t first, std::size_t last) {
                         const auto ask_pages = [&](auto... pages) { ask(pages...); };
                         if (early_ || picker_.rule().weighted || picker_.rule().temporal) {
                           for (std::size_t i = first; i < last; ++i)
                             if (early_)
                               early_->visit_read(nodes_[i], ask_pages);
                             else
                               picker_.visit_counted(nodes_[i], k_, ask_pages);
                           requests.start();
                         }
                         find(first, last);
                       });
    requests.finish();
  }

  void pick_from_disk(const ChunkDone& done) {
    constexpr std::size_t kChunksAtOnce = kPagesAtOnce / kChunkEdgesFromDisk;
    PageRequests& requests = scratch_.requests;
    requests.begin(lists_.graph().resident_pages());
    const auto pick_some = [&](std::size_t first, std::size_t last) {
      for_nodes(first, last, [&](std::size_t i) { pick_list(i); });
    };
    if (picker_.rule().weighted && !early_) {
      const auto ask_for_tables = [&](std::size_t first, std::size_t last) {
        for_nodes(first, last, [&](std::size_t i) {
          picker_.visit_picked(nodes_[i], scratch_.ranges[i], scratch_.counts[i], k_,
                               targets_.draws_of(i), [&](auto... pages) { ask(pages...); });
        });
      };
      requests.in_ranges(chunks().size(), kChunksAtOnce, ask_for_tables, pick_some);
    } else {
      pick_some(0, chunks().size());
    }
    const auto ask_for_picks = [&](std::size_t first, std::size_t last) {
      for_nodes(first, last, [&](std::size_t i) {
        const EdgeId* const positions = positions_of(i);
        for (std::uint64_t pick = 0; pick < scratch_.counts[i]; ++pick) {
          ask(SectionKind::kIndices, positions[pick], positions[pick] + 1);
          if (is_in_rows_) continue;
          if (edge_ids_)
            ask(SectionKind::kEdgeIds, positions[pick], positions[pick] + 1);
          else if (asks_for_rows_)
            ask(SectionKind::kSourceRows, positions[pick], positions[pick] + 1);
        }
      });
    };
    requests.in_ranges(chunks().size(), kChunksAtOnce, ask_for_picks,
                       [&](std::size_t first, std::size_t last) {
                         for_chunks(first, last, [&](const PickChunk& chunk) {
                           for (std::size_t i = chunk.first_node; i < chunk.end_node; ++i)
                             read_list(i);
                           done(chunk);
                         });
                       });
    requests.finish();
  }

  void ask(SectionKind kind, std::int64_t begin, std::int64_t end) {
    const Section& section = *lists_.graph().find(kind, lists_.stored_direction());
    scratch_.requests.add(section, traits_of(section.dtype).item_bytes, begin, end);
  }

  template <class Body>
  void for_chunks(std::size_t first, std::size_t last, const Body& body) {
    parallel_each(last - first, balanced_grain(last - first, 1),
                  [&](std::size_t i) { body(chunks()[first + i]); });
  }

  /// Calls body for each node of some chunks.
  template <class Body>
  void for_nodes(std::size_t first, std::size_t last, const Body& body) {
    for_chunks(first, last, [&](const PickChunk& chunk) {
      for (std::size_t i = chunk.first_node; i < chunk.end_node; ++i) body(i);
    });
  }

  ListView<Index> lists_;
  ListPicker<Index> picker_;
  FrontierScratch& scratch_;
  std::optional<EarlyPicks<Index>> early_;  // in the place of `picker_`, where neighbors have times
  bool announces_ = false;                  // reads, because they come from disk
  IntegerColumn edge_ids_;                  // empty where positions are the ids of edges
  bool asks_for_rows_;                      // of the source, if they are on disk
  const std::int64_t* neighbor_times_;      // if those of edges do not count
  std::span<const NodeId> nodes_;
  std::uint64_t k_ = 0;
  bool is_in_rows_ = false;  // k places for each node, whatever it has, for neighbors only
  HopTargets targets_;
  PickedEdges out_{};
};

}  // namespace graphmount
