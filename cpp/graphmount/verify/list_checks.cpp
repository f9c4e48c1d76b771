#include "graphmount/verify/list_checks.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/read_once.hpp"
#include "graphmount/graph/alias_table.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

// A block of edges is a whole number of chunks in every section, whatever its dtype.
constexpr std::uint64_t kBlockEdges = kChunkBytes;

// Both halves of a 64 by 64 bit product: each bit of the result depends on all bits of a and b.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Odd constants without structure, with high bits set, so that no id or node makes a factor 0.
constexpr std::uint64_t kSourceFactor = 0xD6E8FEB86659FD93, kIdMask = 0xA0761D6478BD642F,
                        kNodeMask = 0xE7037ED1A0B428DB, kTimeMask = 0x8EBC6AF09C88C6E3,
                        kWeightMask = 0xC589965CC75374CC;

std::uint64_t hash_edge(std::uint64_t id, std::uint64_t source, std::uint64_t destination,
                        std::uint64_t data) {
  return fold(id ^ kIdMask, (source * kSourceFactor + destination) ^ kNodeMask ^ data);
}

class ListVerifier {
 public:
  ListVerifier(const Graph& graph, const ListColumns& lists, EdgeSum sum, Verifier& verifier,
               ListFindings& findings)
      : graph_(graph), lists_(lists), sum_(sum), verifier_(verifier), findings_(findings) {}

  void check_block(std::uint64_t begin, std::uint64_t end, bool offsets_are_sound) {
    for (const SectionKind kind :
         {SectionKind::kIndices, SectionKind::kWeights, SectionKind::kAlias,
          SectionKind::kTimestamps, SectionKind::kEdgeIds, SectionKind::kSourceRows})
      if (const Section* section = find(kind)) verifier_.check_chunks(*section, begin, end);
    check_values(begin, end);
    // Lists sorted by neighbor are in range if their ends are, which is seen when they are checked.
    if (!offsets_are_sound || lists_.times) check_neighbors(begin, end);
    if (!offsets_are_sound) return;
    const bool is_narrow = lists_.neighbors.narrow != nullptr;
    findings_.sum += is_narrow ? check_lists(lists_.neighbors.narrow, begin, end)
                               : check_lists(lists_.neighbors.wide, begin, end);
  }

 private:
  const Section* find(SectionKind kind) const {
    return graph_.mount().header().find(kind, lists_.direction);
  }

  // Checks all, which is quick; looks for the first bad one only if there is one.
  template <class Item, class IsFine, class Describe>
  void check_items(const Item* items, SectionKind kind, std::uint64_t begin, std::uint64_t end,
                   const IsFine& is_fine, const Describe& describe) {
    if (items == nullptr) return;
    bool all_fine = true;
    for (std::uint64_t edge = begin; edge < end; ++edge) all_fine &= is_fine(items[edge]);
    if (all_fine) return;
    findings_.sound = false;
    const std::uint64_t edge = static_cast<std::uint64_t>(
        std::find_if(items + begin, items + end - 1, [&](Item item) { return !is_fine(item); }) -
        items);
    verifier_.report(*find(kind), edge,
                     say("at position ", edge, ": ", describe(std::to_string(items[edge]))));
  }

  template <class IsFine, class Describe>
  void check_items(const IntegerColumn& column, SectionKind kind, std::uint64_t begin,
                   std::uint64_t end, const IsFine& is_fine, const Describe& describe) {
    check_items(column.narrow, kind, begin, end, is_fine, describe);
    check_items(column.wide, kind, begin, end, is_fine, describe);
  }

  void check_neighbors(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t num_neighbors = lists_.num_neighbors;
    check_items(
        lists_.neighbors, SectionKind::kIndices, begin, end,
        [&](std::int64_t item) { return static_cast<std::uint64_t>(item) < num_neighbors; },
        [&](const std::string& item) {
          return say("neighbor ", item, " of ", num_neighbors, " nodes");
        });
  }

  void check_values(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t num_edges = graph_.num_edges();
    check_items(
        lists_.weights, SectionKind::kWeights, begin, end,
        [](float item) { return item >= 0 && item <= std::numeric_limits<float>::max(); },
        [](const std::string& item) {
          return "weight " + item + " is not a finite number of at least 0";
        });
    check_items(
        lists_.edge_ids, SectionKind::kEdgeIds, begin, end,
        [&](std::int64_t item) { return static_cast<std::uint64_t>(item) < num_edges; },
        [&](const std::string& item) {
          return say("edge id ", item, " of ", num_edges, " edges");
        });
    check_items(
        lists_.source_rows, SectionKind::kSourceRows, begin, end,
        [](std::int64_t item) { return item >= 0; },
        [](const std::string& item) { return "source row " + item + " is negative"; });
  }

  // The lists that begin in the block; returns their part of the sum.
  template <class Index>
  std::uint64_t check_lists(const Index* neighbors, std::uint64_t begin, std::uint64_t end) {
    const std::int64_t* offsets = lists_.offsets;
    const auto* first =
        std::lower_bound(offsets, offsets + lists_.num_lists, static_cast<std::int64_t>(begin));
    const bool has_data = lists_.weights != nullptr || lists_.times;
    std::vector<double> shares;
    std::uint64_t sum = 0;
    for (auto node = static_cast<std::uint64_t>(first - offsets);
         node < lists_.num_lists && static_cast<std::uint64_t>(offsets[node]) < end; ++node) {
      const auto from = static_cast<std::uint64_t>(read_once(offsets + node));
      const auto to = static_cast<std::uint64_t>(read_once(offsets + node + 1));
      // Checked before, but a file that is overwritten meanwhile must not lead us astray.
      if (from > to || to > graph_.num_edges()) continue;
      if (lists_.times)
        check_order<true>(neighbors, node, from, to);
      else
        check_order<false>(neighbors, node, from, to);
      if (lists_.alias != nullptr) check_alias(node, from, to, shares);
      if (sum_ == EdgeSum::kNone) continue;
      sum += has_data ? sum_list<true>(neighbors, node, from, to)
                      : sum_list<false>(neighbors, node, from, to);
    }
    return sum;
  }

  template <bool kHasTimes, class Index>
  void check_order(const Index* neighbors, std::uint64_t node, std::uint64_t from,
                   std::uint64_t to) {
    const bool by_time = kHasTimes && graph_.mount().header().has(kFlagSortedByTime);
    const auto is_fine = [&](std::uint64_t edge) {
      if (by_time && lists_.times[edge - 1] != lists_.times[edge])
        return lists_.times[edge - 1] < lists_.times[edge];
      return neighbors[edge - 1] <= neighbors[edge];
    };
    bool all_fine = true;
    for (std::uint64_t edge = from + 1; edge < to; ++edge) all_fine &= is_fine(edge);
    if (!kHasTimes && from < to) {
      const bool ends_are_fine =
          static_cast<std::uint64_t>(neighbors[from]) < lists_.num_neighbors &&
          static_cast<std::uint64_t>(neighbors[to - 1]) < lists_.num_neighbors;
      if (!all_fine || !ends_are_fine) check_neighbors(from, to);
    }
    if (all_fine) return;
    findings_.sound = false;
    // The last one will do if a file that is being overwritten has been put right meanwhile.
    std::uint64_t edge = from + 1;
    while (edge + 1 < to && is_fine(edge)) ++edge;
    verifier_.report(*lists_.indices, edge,
                     say("the list of node ", node, " is not sorted at position ", edge));
  }

  template <bool kHasData, class Index>
  std::uint64_t sum_list(const Index* neighbors, std::uint64_t node, std::uint64_t from,
                         std::uint64_t to) const {
    const bool is_in = lists_.direction == Direction::kIn;
    std::uint64_t sum = 0;
    for (std::uint64_t edge = from; edge < to; ++edge) {
      const auto other = static_cast<std::uint64_t>(neighbors[edge]);
      const std::uint64_t source = is_in ? other : node, destination = is_in ? node : other;
      std::uint64_t data = 0;
      if constexpr (kHasData)
        data = fold(static_cast<std::uint64_t>(lists_.time(edge)) ^ kTimeMask,
                    std::bit_cast<std::uint32_t>(lists_.weight(edge)) ^ kWeightMask);
      if (sum_ == EdgeSum::kWithIds)
        sum += hash_edge(lists_.edge_id(edge), source, destination, data);
      else
        sum += hash_edge(0, source, destination, data) - hash_edge(0, destination, source, data);
    }
    return sum;
  }

  // The share of each neighbor that the table gives must be that of its weight.
  void check_alias(std::uint64_t node, std::uint64_t from, std::uint64_t to,
                   std::vector<double>& shares) {
    const std::uint64_t* table = lists_.alias + from;
    const float* weights = lists_.weights + from;
    const std::uint64_t length = to - from;
    const auto wrong = [&](std::uint64_t place) {
      verifier_.report(*find(SectionKind::kAlias), from + place,
                       say("the table of node ", node, " is wrong at place ", place));
    };
    double sum = 0.0;
    for (std::uint64_t i = 0; i < length; ++i) sum += weights[i];
    if (!(sum > 0.0)) {
      for (std::uint64_t i = 0; i < length; ++i)
        if (table[i] != kNoPick) return wrong(i);
      return;
    }
    shares.assign(length, 0.0);
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::uint32_t alias = alias_of(read_once(table + i));
      if (alias >= length) return wrong(i);
      const double kept = alias_threshold(table[i]) / 4294967296.0;
      shares[i] += kept;
      shares[alias] += 1.0 - kept;
    }
    const double scale = static_cast<double>(length) / sum;
    for (std::uint64_t i = 0; i < length; ++i) {
      const double expected = weights[i] * scale;
      const bool is_picked_in_vain = weights[i] == 0 && shares[i] != 0.0;
      // Thresholds are rounded to 2^-32, and an entry may be the alias of all the others.
      const double tolerance = 1e-6 * (1.0 + expected) + 1e-9 * static_cast<double>(length);
      if (is_picked_in_vain || !(std::abs(shares[i] - expected) <= tolerance)) return wrong(i);
    }
  }

  const Graph& graph_;
  const ListColumns& lists_;
  EdgeSum sum_;
  Verifier& verifier_;
  ListFindings& findings_;
};

}  // namespace

void verify_lists(const Graph& graph, const ListColumns& lists, bool offsets_are_sound, EdgeSum sum,
                  Verifier& verifier, ListFindings& findings) {
  if (!offsets_are_sound) findings.sound = false;
  ListVerifier list_verifier(graph, lists, sum, verifier, findings);
  const std::uint64_t num_edges = graph.num_edges();
  parallel_each((num_edges + kBlockEdges - 1) / kBlockEdges, 1, [&](std::uint64_t block) {
    const std::uint64_t begin = block * kBlockEdges;
    list_verifier.check_block(begin, std::min(begin + kBlockEdges, num_edges), offsets_are_sound);
  });
}

}  // namespace graphmount
