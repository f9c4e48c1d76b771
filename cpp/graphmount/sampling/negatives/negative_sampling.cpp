#include "graphmount/sampling/negatives/negative_sampling.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/sampling/negatives/negative_choice.hpp"
#include "graphmount/sampling/negatives/negative_tries.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kGrain = 1 << 10;

Direction opposite(Direction direction) {
  return direction == Direction::kIn ? Direction::kOut : Direction::kIn;
}

[[noreturn]] void refuse(const Graph& graph, const std::string& problem) {
  throw MissingDataError(graph.mount().file().path(),
                         problem + "; pad=-1 marks places that cannot be filled");
}

[[noreturn]] void refuse_changed_lists(const Graph& graph) {
  throw FileChangedError(graph.mount().file().path(),
                         "the lists changed while they were read; do not write to mounted files");
}

void require_options(const NegativeOptions& options) {
  if (options.pad && *options.pad >= 0)
    throw std::invalid_argument(
        say("pad=", *options.pad, " could be a node; give a number below 0"));
}

void fill_all(const NegativeRequest& request, NodeId value) {
  std::fill(request.kept_out.begin(), request.kept_out.end(), value);
  std::fill(request.out.begin(), request.out.end(), value);
}

// Uniform draws that are not strict: nothing of the file is read, and a node is left out by
// drawing from one node less.
void fill_uniform(const NegativeRequest& request, std::uint64_t num_kept,
                  std::uint64_t num_others) {
  const bool allows_loops = request.options.allows_self_loops;
  const std::size_t count = request.out.size();
  parallel_each(count, balanced_grain(count, kGrain), [&](std::size_t place) {
    const std::size_t row = place / request.num;
    Draws draws(request.key_of(row, place % request.num));
    const NodeId kept =
        request.draws_pairs() ? static_cast<NodeId>(draws.below(num_kept)) : request.kept[row];
    auto other = static_cast<NodeId>(draws.below(num_others - (allows_loops ? 0 : 1)));
    if (!allows_loops && other >= kept) ++other;
    if (request.draws_pairs()) request.kept_out[place] = kept;
    request.out[place] = other;
  });
}

// Fills, row by row, the places that trying has left open. A draw has a key of its own here, so
// that how often it was tried does not matter.
template <class Lists, class Reverse>
void choose_rows(const NegativeRequest& request, const Lists& lists, const Reverse& reverse) {
  std::atomic<std::size_t> shortage = SIZE_MAX;  // the first row that has no negative
  parallel_for(request.kept.size(), kGrain / request.num, [&](std::size_t begin, std::size_t end) {
    NegativeChoice choice(request.options, lists, reverse);
    for (std::size_t row = begin; row < end; ++row) {
      bool is_ready = false;
      for (std::size_t draw = 0; draw < request.num; ++draw) {
        NodeId& place = request.out[row * request.num + draw];
        if (place != kOpenPlace) continue;
        if (!is_ready) choice.prepare(request.kept[row]);
        is_ready = true;
        if (choice.count() == 0) {
          lower_to(shortage, row);
          place = request.options.pad.value_or(kOpenPlace);
        } else {
          place = choice.at(Draws(request.key_of(row, draw).with(0)).below(choice.count()));
        }
      }
    }
  });
  if (shortage == SIZE_MAX || request.options.pad) return;
  const NodeId node = request.kept[shortage];
  refuse(
      lists.graph(),
      say("node ", node, " (at position ", shortage.load(),
          ") has no negative: no node can be drawn that is not ",
          (request.options.is_strict ? "at the other end of one of its edges" : "the node itself"),
          (request.options.is_strict && !request.options.allows_self_loops ? ", or the node itself"
                                                                           : "")));
}

// The same for pairs: one pass over all lists tells how many pairs each kept end has.
template <class Lists, class Reverse>
void choose_pairs(const NegativeRequest& request, const Lists& lists, const Reverse& reverse) {
  using Wide = unsigned __int128;  // pairs by degree are counted by the square of the edges
  std::vector<Wide> pairs_up_to(lists.num_lists());
  parallel_for(pairs_up_to.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    NegativeChoice choice(request.options, lists, reverse);
    for (std::size_t i = begin; i < end; ++i) {
      const auto node = static_cast<NodeId>(i);
      const std::int64_t degree = lists.degree(node);
      const auto draws_of_node = request.is_by_degree() ? static_cast<std::uint64_t>(degree) : 1;
      if (draws_of_node == 0) continue;
      choice.prepare(node);
      pairs_up_to[i] = Wide{choice.count()} * draws_of_node;
    }
  });
  Wide total = 0;
  for (Wide& pairs : pairs_up_to) pairs = total += pairs;
  if (total == 0) {
    if (!request.options.pad)
      refuse(lists.graph(),
             "the graph has no negative pairs: every pair that can be drawn is an "
             "edge, or one node twice");
    fill_all(request, *request.options.pad);
    return;
  }
  parallel_for(request.out.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    NegativeChoice choice(request.options, lists, reverse);
    for (std::size_t place = begin; place < end; ++place) {
      if (request.out[place] != kOpenPlace) continue;
      Draws draws(request.key_of(place, 0).with(0));
      const Wide high = draws.bits();
      const Wide rank = (high << 64 | draws.bits()) % total;
      const auto found = std::upper_bound(pairs_up_to.begin(), pairs_up_to.end(), rank);
      const NodeId kept = found - pairs_up_to.begin();
      choice.prepare(kept);
      if (choice.count() == 0) [[unlikely]]
        refuse_changed_lists(lists.graph());
      request.kept_out[place] = kept;
      request.out[place] = choice.at(draws.below(choice.count()));
    }
  });
}

template <class Lists, class Reverse>
void fill_from_lists(const NegativeRequest& request, const Lists& lists, const Reverse& reverse) {
  std::atomic<bool> has_open = false;
  const std::size_t count = request.out.size();
  parallel_for(count, balanced_grain(count, kGrain), [&](std::size_t begin, std::size_t end) {
    NegativeTries tries(request, lists, reverse);
    if (!tries.fill(begin, end)) has_open.store(true, std::memory_order_relaxed);
  });
  if (!has_open) return;
  if (request.draws_pairs())
    choose_pairs(request, lists, reverse);
  else
    choose_rows(request, lists, reverse);
}

// `direction` is that of the lists from kept ends to others.
void fill(const Graph& graph, NegativeRequest request, Direction direction) {
  // Two node types have no node in common, whatever the numbers.
  if (graph.is_rectangular()) request.options.allows_self_loops = true;
  const NegativeOptions& options = request.options;
  const std::uint64_t num_kept = graph.num_lists(direction);
  const std::uint64_t num_others = graph.num_neighbors(direction);
  const bool may_refuse = options.is_strict || !options.allows_self_loops;
  const bool needs_lists = request.is_by_degree() || options.is_strict;
  const bool needs_reverse = request.is_by_degree() && (may_refuse || request.draws_pairs());
  // What the file lacks is an error whatever there is to do.
  if (needs_lists) graph.stored_direction(direction);
  if (needs_reverse) graph.stored_direction(opposite(direction));
  if (request.out.empty()) return;
  const bool has_no_nodes = num_others == 0 || (request.draws_pairs() && num_kept == 0);
  const bool has_one_node = num_others == 1 && !options.allows_self_loops;
  if (has_no_nodes || has_one_node || (request.is_by_degree() && graph.num_edges() == 0)) {
    if (!options.pad)
      refuse(graph, has_no_nodes ? "the graph has no nodes to draw"
                    : has_one_node
                        ? "the graph has one node only, which may not be its own negative"
                        : "the graph has no edges, so weighting='degree' has no nodes "
                          "to draw");
    fill_all(request, *options.pad);
    return;
  }
  if (!needs_lists) {
    fill_uniform(request, num_kept, num_others);
    return;
  }
  read_lists(graph, direction, [&](const auto& lists) {
    if (!needs_reverse) {
      fill_from_lists(request, lists, lists);
      return;
    }
    read_lists(graph, opposite(direction),
               [&](const auto& reverse) { fill_from_lists(request, lists, reverse); });
  });
}

}  // namespace

void sample_negatives(const Graph& graph, std::span<const NodeId> kept, EdgeEnd corrupt,
                      const NegativeOptions& options, RandomKey key, std::span<NodeId> out,
                      Places places) {
  require_options(options);
  const Direction direction = corrupt == EdgeEnd::kDestination ? Direction::kOut : Direction::kIn;
  require_ids(kept, graph.num_lists(direction), "node");
  if (kept.empty() ? !out.empty() : out.size() % kept.size() != 0)
    throw std::invalid_argument("negatives are as many for each kept end");
  const std::size_t num = kept.empty() ? 1 : out.size() / kept.size();
  // Of a copy, where ids are followed: the caller's array may change between check and use.
  std::vector<NodeId> copied;
  if (options.is_strict) {
    copied.assign(kept.begin(), kept.end());
    require_ids(copied, graph.num_lists(direction), "node");
    kept = copied;
  }
  fill(graph, {kept, num, options, key, places, {}, out}, direction);
}

void sample_negative_pairs(const Graph& graph, const NegativeOptions& options, RandomKey key,
                           std::span<NodeId> sources, std::span<NodeId> destinations,
                           Places places) {
  require_options(options);
  if (sources.size() != destinations.size())
    throw std::invalid_argument("pairs have as many sources as destinations");
  const bool has_out = graph.is_undirected() || graph.has_lists(Direction::kOut);
  // Draws by degree need both; then the lists to look into are the outgoing ones.
  const bool is_by_degree = options.weighting == NegativeWeighting::kDegree;
  if (is_by_degree || has_out)
    fill(graph, {{}, 1, options, key, places, sources, destinations}, Direction::kOut);
  else
    fill(graph, {{}, 1, options, key, places, destinations, sources}, Direction::kIn);
}

}  // namespace graphmount
