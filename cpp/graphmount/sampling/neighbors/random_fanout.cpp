#include "graphmount/sampling/neighbors/random_fanout.hpp"

#include <algorithm>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/graph/page_requests.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::int64_t kBlockNodes = 32;  // lists whose memory is fetched at the same time
constexpr std::int64_t kGrain = 1024;

struct FanoutScratch {
  PageRequests requests;
  Buffer<NodeId> nodes;  // a copy: the caller's array may change between check and use
  Buffer<ListRange> ranges;
  Buffer<std::uint64_t> counts;

  std::size_t bytes() const {
    return requests.bytes() + nodes.bytes() + ranges.bytes() + counts.bytes();
  }
};

template <class Index>
class Fanout {
 public:
  Fanout(const ListView<Index>& lists, std::span<const NodeId> nodes, const FanoutOptions& options,
         std::int64_t* out)
      : lists_(lists), picker_(lists, options.rule), options_(options), out_(out) {
    scratch_->nodes.resize(nodes.size());
    std::copy(nodes.begin(), nodes.end(), scratch_->nodes.data());
    nodes_ = scratch_->nodes.span();
    require_ids(nodes_, lists.num_nodes(), "node");
  }

  void run() {
    scratch_->ranges.resize(nodes_.size());
    scratch_->counts.resize(nodes_.size());
    if (lists_.graph().resident_pages().wants_requests()) return run_from_disk();
    for_rows([&](std::int64_t begin, std::int64_t end) {
      // Three blocks are under way: offsets of one, picks of one, neighbors of one.
      const auto block_end = [&](std::int64_t at) { return std::min(at + kBlockNodes, end); };
      for (std::int64_t i = begin; i < block_end(begin); ++i) lists_.prefetch_range(node(i));
      std::int64_t picked = begin, read = begin;
      while (read < end) {
        const std::int64_t to_read = picked;
        for (std::int64_t i = block_end(picked); i < block_end(block_end(picked)); ++i)
          lists_.prefetch_range(node(i));
        for (const std::int64_t stop = block_end(picked); picked < stop; ++picked) {
          find_range(picked);
          pick(picked);
        }
        for (; read < to_read; ++read) finish_row(read);
      }
    });
  }

 private:
  NodeId node(std::int64_t row) const { return nodes_[static_cast<std::size_t>(row)]; }
  std::int64_t* row_of(std::int64_t row) const {
    return out_ + static_cast<std::uint64_t>(row) * options_.k;
  }

  /// Step by step for some rows at a time, whose pages are asked for before.
  void run_from_disk() {
    PageRequests& requests = scratch_->requests;
    const auto ask = [&](SectionKind kind, std::int64_t begin, std::int64_t end) {
      const Section& section = *lists_.graph().find(kind, lists_.stored_direction());
      requests.add(section, traits_of(section.dtype).item_bytes, begin, end);
    };
    const auto each = [&](const auto& body) {
      return [&, body](std::size_t first, std::size_t last) {
        const auto count = static_cast<std::int64_t>(last - first);
        parallel_for(count, balanced_grain(count, 64), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) body(static_cast<std::int64_t>(first) + i);
        });
      };
    };
    requests.begin(lists_.graph().resident_pages());
    const auto find_ranges = each([&](std::int64_t i) { find_range(i); });
    requests.in_ranges(
        nodes_.size(), kPagesAtOnce,
        each([&](std::int64_t i) { ask(SectionKind::kIndptr, node(i), node(i) + 2); }),
        [&](std::size_t first, std::size_t last) {
          if (options_.rule.weighted) {
            each([&](std::int64_t i) { picker_.visit_counted(node(i), options_.k, ask); })(first,
                                                                                           last);
            requests.start();
          }
          find_ranges(first, last);
        });
    const std::size_t rows_at_once =
        std::max<std::size_t>(1, kPagesAtOnce / std::max<std::size_t>(1, options_.k));
    const auto pick_rows = each([&](std::int64_t i) { pick(i); });
    if (options_.rule.weighted) {
      const auto ask_for_tables = each([&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        picker_.visit_picked(node(i), scratch_->ranges[at], scratch_->counts[at], options_.k,
                             draws_of(i), ask);
      });
      requests.in_ranges(nodes_.size(), rows_at_once, ask_for_tables, pick_rows);
    } else {
      pick_rows(0, nodes_.size());
    }
    const auto ask_for_neighbors = each([&](std::int64_t i) {
      const std::uint64_t count = scratch_->counts[static_cast<std::size_t>(i)];
      for (std::uint64_t j = 0; j < count; ++j)
        ask(SectionKind::kIndices, row_of(i)[j], row_of(i)[j] + 1);
    });
    requests.in_ranges(nodes_.size(), rows_at_once, ask_for_neighbors,
                       each([&](std::int64_t i) { finish_row(i); }));
    requests.finish();
  }

  Draws draws_of(std::int64_t row) const {
    return Draws(options_.key.with(static_cast<std::uint64_t>(row)));
  }

  void find_range(std::int64_t row) {
    const auto at = static_cast<std::size_t>(row);
    scratch_->ranges[at] = picker_.eligible(node(row), 0);
    scratch_->counts[at] = picker_.count(scratch_->ranges[at], options_.k);
  }

  /// Puts positions where the neighbors will be.
  void pick(std::int64_t row) {
    thread_local PickScratch pick_scratch;
    const auto at = static_cast<std::size_t>(row);
    const std::uint64_t count = scratch_->counts[at];
    picker_.pick(node(row), scratch_->ranges[at], count, options_.k, draws_of(row), pick_scratch,
                 row_of(row));
    for (std::uint64_t i = 0; i < count; ++i) lists_.prefetch_neighbor(row_of(row)[i]);
  }

  void finish_row(std::int64_t row) {
    std::int64_t* const out = row_of(row);
    const std::uint64_t count = scratch_->counts[static_cast<std::size_t>(row)];
    for (std::uint64_t i = 0; i < count; ++i) out[i] = lists_.neighbor(out[i]);
    if (count == options_.k) return;
    if (!options_.repeat || count == 0)
      return std::fill(out + count, out + options_.k, options_.repeat ? node(row) : -1);
    std::uint64_t i = count;
    for (; i + count <= options_.k; i += count) std::copy(out, out + count, out + i);
    thread_local std::vector<std::uint64_t> places;
    Draws draws(options_.key.with(static_cast<std::uint64_t>(row)).with(0));
    pick_distinct(draws, count, options_.k - i, places,
                  [&](std::uint64_t j, std::uint64_t place) { out[i + j] = out[place]; });
  }

  template <class Body>
  void for_rows(const Body& body) {
    const auto count = static_cast<std::int64_t>(nodes_.size());
    parallel_for(count, balanced_grain(count, kGrain), body);
  }

  ListView<Index> lists_;
  ListPicker<Index> picker_;
  const FanoutOptions& options_;
  std::int64_t* out_;
  Recycled<FanoutScratch> scratch_;
  std::span<const NodeId> nodes_;
};

}  // namespace

ResultBuffer random_fanout(const Graph& graph, std::span<const NodeId> nodes,
                           const FanoutOptions& options) {
  ResultBuffer out = allocate_result(nodes.size(), options.k,
                                     "rows of " + std::to_string(options.k) + " neighbors");
  read_lists(graph, options.direction, [&]<class Index>(const ListView<Index>& lists) {
    Fanout<Index>(lists, nodes, options, out->data()).run();
  });
  return out;
}

}  // namespace graphmount
