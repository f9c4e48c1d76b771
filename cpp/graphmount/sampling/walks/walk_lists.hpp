// Neighbor lists as walkers pick from them: uniformly, or by weight with the file's alias tables.
//
// A pick is made in parts, so that a walker can do something else while memory is fetched: `draw`
// decides where to look and asks for it, `settle` says which position that means (and asks for it,
// where weights have sent it elsewhere), and `neighbor` reads it.
#pragma once

#include <cstdint>

#include "graphmount/base/error.hpp"
#include "graphmount/base/fetch.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/graph/alias_table.hpp"
#include "graphmount/graph/list_view.hpp"

namespace graphmount {

/// A position that no list has: there is nothing to pick.
inline constexpr EdgeId kNowhere = -1;

/// Where a draw fell: on a position, and on one of 2^32 parts of it.
struct Pick {
  EdgeId position = kNowhere;
  std::uint32_t part = 0;
};

template <class Item, bool kIsWeighted>
class WalkLists {
 public:
  using Index = Item;
  static constexpr bool kWeighted = kIsWeighted;

  explicit WalkLists(const ListView<Index>& lists)
      : lists_(lists),
        alias_(lists.template section<std::uint64_t>(SectionKind::kAlias)),
        weights_(lists.template section<float>(SectionKind::kWeights)) {}

  const ListView<Index>& view() const { return lists_; }

  ListRange range(NodeId node) const { return lists_.range(node); }
  NodeId neighbor(EdgeId position) const { return lists_.neighbor(position); }

  /// Asks for the offsets of a node, of which there are two: they may lie in two cache lines.
  void prefetch_range(NodeId node) const {
    fetch_line(lists_.indptr() + node);
    fetch_line(lists_.indptr() + node + 1);
  }

  /// A draw from a list, which must not be empty. One number of 64 bits serves for both parts: what
  /// is left of it when the position is known is as good as new.
  Pick draw(ListRange list, Draws& draws) const {
    const auto degree = static_cast<std::uint64_t>(list.end - list.begin);
    const auto product = static_cast<unsigned __int128>(draws.bits()) * degree;
    const EdgeId position = list.begin + static_cast<EdgeId>(product >> 64);
    if constexpr (kWeighted) {
      fetch_line(alias_ + position);
      return {position, static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32)};
    } else {
      lists_.prefetch_neighbor(position);
      return {position, 0};
    }
  }

  /// The position that a draw from this list stands for; kNowhere if no weight is positive.
  EdgeId settle(ListRange list, Pick pick) const {
    if constexpr (!kWeighted) return pick.position;
    const std::uint64_t entry = read_once(alias_ + pick.position);
    const auto place = static_cast<std::uint64_t>(pick.position - list.begin);
    const EdgeId position =
        list.begin + static_cast<EdgeId>(pick_by_alias(entry, place, pick.part));
    if (position >= list.end) [[unlikely]] {
      if (entry == kNoPick) return kNowhere;
      refuse_alias(pick.position, entry);
    }
    lists_.prefetch_neighbor(position);
    return position;
  }

  /// What the step along an entry weighs.
  double weight(EdgeId position) const {
    if constexpr (kWeighted) return static_cast<double>(weights_[position]);
    return 1.0;
  }

 private:
  [[noreturn]] void refuse_alias(EdgeId position, std::uint64_t entry) const {
    lists_.graph().refuse(say("the alias table (", direction_name(lists_.stored_direction()),
                              ") has at position ", position, " the alias ", alias_of(entry),
                              ", which is beyond the list"));
  }

  ListView<Index> lists_;
  const std::uint64_t* alias_;
  const float* weights_;
};

}  // namespace graphmount
