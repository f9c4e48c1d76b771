// The fast way to negatives: draw a node, check whether it is allowed, and if not, draw again.
//
// A place that 64 tries do not fill is left to `negative_choice`. Many places are tried at a time,
// because each mostly waits for memory. Nothing is allocated.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graphmount/graph/edge_search.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"

namespace graphmount {

/// Stands in a place that is not filled yet.
inline constexpr NodeId kOpenPlace = -1;

/// What one call asks for. Place i is draw i % num of row i / num.
struct NegativeRequest {
  /// The kept end of each row; if empty, each row has one place, and both its ends are drawn.
  std::span<const NodeId> kept;
  std::size_t num;
  NegativeOptions options;
  RandomKey key;
  Places places;  // of the rows
  /// Where drawn kept ends go, one for each place; empty if they are given.
  std::span<NodeId> kept_out;
  std::span<NodeId> out;

  bool draws_pairs() const { return !kept_out.empty(); }
  bool is_by_degree() const { return options.weighting == NegativeWeighting::kDegree; }
  RandomKey key_of(std::size_t row, std::size_t draw) const {
    return key.with(places.of(row)).with(draw);
  }
};

/// `Lists` go from kept ends to others, `Reverse` back; only draws of pairs by degree read these.
template <class Index, class ReverseIndex>
class NegativeTries {
 public:
  NegativeTries(const NegativeRequest& request, const ListView<Index>& lists,
                const ListView<ReverseIndex>& reverse)
      : request_(request),
        lists_(lists),
        reverse_(reverse),
        is_sorted_by_time_(lists.graph().mount().header().has(kFlagSortedByTime)) {}

  /// Fills places [begin, end), or leaves them open. Returns whether all are filled.
  bool fill(std::size_t begin, std::size_t end) {
    bool is_filled = true;
    for (std::size_t first = begin; first < end; first += kMostLookups)
      is_filled &= fill_block(first, std::min(end, first + kMostLookups));
    return is_filled;
  }

 private:
  static constexpr int kTries = 64;

  struct Try {
    std::size_t place;
    Draws draws{RandomKey(0)};
    NodeId kept, other;
    EdgeId kept_position, other_position;
  };

  bool fill_block(std::size_t begin, std::size_t end) {
    std::size_t row = begin / request_.num, draw = begin % request_.num, count = 0;
    for (std::size_t place = begin; place < end; ++place) {
      Try& next = tries_[count++];
      next.place = place;
      next.draws = Draws(request_.key_of(row, draw));
      if (!request_.draws_pairs()) next.kept = request_.kept[row];
      if (++draw == request_.num) draw = 0, ++row;
    }
    for (int round = 0; round < kTries && count > 0; ++round) {
      draw_all(count);
      if (request_.options.is_strict) look_up(count);
      count = keep_refused(count);
    }
    for (std::size_t i = 0; i < count; ++i) request_.out[tries_[i].place] = kOpenPlace;
    return count == 0;
  }

  // By degree, an end is what stands at a random place of the lists.
  void draw_all(std::size_t count) {
    const bool is_by_degree = request_.is_by_degree(), draws_pairs = request_.draws_pairs();
    const std::uint64_t num_kept = lists_.num_lists(), num_others = lists_.num_neighbors();
    const std::uint64_t num_edges = lists_.num_edges();
    for (std::size_t i = 0; i < count; ++i) {
      Try& current = tries_[i];
      if (is_by_degree) {
        if (draws_pairs) {
          current.kept_position = static_cast<EdgeId>(current.draws.below(num_edges));
          reverse_.prefetch_neighbor(current.kept_position);
        }
        current.other_position = static_cast<EdgeId>(current.draws.below(num_edges));
        lists_.prefetch_neighbor(current.other_position);
      } else {
        if (draws_pairs) current.kept = static_cast<NodeId>(current.draws.below(num_kept));
        current.other = static_cast<NodeId>(current.draws.below(num_others));
      }
    }
    if (!is_by_degree) return;
    for (std::size_t i = 0; i < count; ++i) {
      Try& current = tries_[i];
      if (draws_pairs) current.kept = reverse_.neighbor(current.kept_position);
      current.other = lists_.neighbor(current.other_position);
    }
  }

  void look_up(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) lists_.prefetch_range(tries_[i].kept);
    for (std::size_t i = 0; i < count; ++i)
      lookups_[i] = {&lists_, lists_.range(tries_[i].kept), tries_[i].other, false, {}};
    settle_lookups(std::span(lookups_).first(count), is_sorted_by_time_);
  }

  // Writes those that may stay, and moves the others to the front.
  std::size_t keep_refused(std::size_t count) {
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Try& current = tries_[i];
      const bool is_edge = request_.options.is_strict && lookups_[i].is_found;
      const bool is_loop = !request_.options.allows_self_loops && current.kept == current.other;
      if (is_edge || is_loop) {
        tries_[refused++] = current;
        continue;
      }
      if (request_.draws_pairs()) request_.kept_out[current.place] = current.kept;
      request_.out[current.place] = current.other;
    }
    return refused;
  }

  const NegativeRequest& request_;
  const ListView<Index>& lists_;
  const ListView<ReverseIndex>& reverse_;
  const bool is_sorted_by_time_;
  std::array<Try, kMostLookups> tries_;
  std::array<EdgeLookup<Index>, kMostLookups> lookups_;
};

}  // namespace graphmount
