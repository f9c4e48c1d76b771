// The rules about the content of a graph file: offsets, neighbor lists, and that the lists of the
// two directions tell of the same edges.
//
// The last is checked by sums over hashes of edges, which do not depend on the order in which edges
// are met: one sequential pass for each direction instead of a random access for each edge. Only
// when the sums differ does a slow second pass look for the edge.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>

#include "graphmount/alias_table.hpp"
#include "graphmount/node_ids.hpp"
#include "graphmount/parallel.hpp"
#include "graphmount/verifier.hpp"

namespace graphmount {
namespace {

// A block of edges is a whole number of chunks in every section, whatever its dtype.
constexpr std::uint64_t kBlockEdges = kChunkBytes;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xD6E8FEB86659FD93;
  hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93;
  return hash ^ (hash >> 32);
}

bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || length > text.size() - i) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    const unsigned second = length > 1 ? byte(i + 1) : 0;
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90))
      return false;
    i += length;
  }
  return true;
}

// The sections of one direction, with items read as int64 where they are integers of either size.
class Lists {
 public:
  Lists(const Graph& graph, Direction direction) : graph_(graph), direction_(direction) {}

  const Section* find(SectionKind kind) const {
    return graph_.mount().header().find(kind, direction_);
  }
  const Section& indptr() const { return *find(SectionKind::kIndptr); }
  const Section& indices() const { return *find(SectionKind::kIndices); }
  const std::int64_t* offsets() const { return graph_.mount().data<std::int64_t>(indptr()); }

  std::int64_t integer(const Section& section, std::uint64_t item) const {
    return section.dtype == DType::kInt32 ? graph_.mount().data<std::int32_t>(section)[item]
                                          : graph_.mount().data<std::int64_t>(section)[item];
  }
  std::int64_t neighbor(std::uint64_t edge) const { return integer(indices(), edge); }
  std::int64_t time(std::uint64_t edge) const {
    const Section* section = find(SectionKind::kTimestamps);
    return section == nullptr ? 0 : integer(*section, edge);
  }
  float weight(std::uint64_t edge) const {
    const Section* section = find(SectionKind::kWeights);
    return section == nullptr ? 0.0F : graph_.mount().data<float>(*section)[edge];
  }
  /// Position in the lists that number the edges.
  std::int64_t edge_id(std::uint64_t edge) const {
    const Section* section = find(SectionKind::kEdgeIds);
    return section == nullptr ? static_cast<std::int64_t>(edge) : integer(*section, edge);
  }
  /// The lists owner of the edge at this position; the offsets must be sound.
  std::uint64_t owner(std::uint64_t edge) const {
    const std::int64_t* first = offsets();
    return static_cast<std::uint64_t>(
        std::upper_bound(first, first + graph_.num_nodes() + 1, static_cast<std::int64_t>(edge)) -
        first - 1);
  }

 private:
  const Graph& graph_;
  Direction direction_;
};

// Sums of hashes of all edges of one direction; see the head of this file.
struct EdgeSums {
  std::atomic<std::uint64_t> edges = 0;     // id, source, destination, time, weight
  std::atomic<std::uint64_t> forward = 0;   // the same without the id
  std::atomic<std::uint64_t> backward = 0;  // with source and destination exchanged
};

class GraphVerifier {
 public:
  GraphVerifier(const Graph& graph, Verifier& verifier) : graph_(graph), verifier_(verifier) {}

  void run() {
    for (const Direction direction : {Direction::kIn, Direction::kOut})
      if (graph_.has_lists(direction)) check_offsets(Lists(graph_, direction));
    EdgeSums in, out;
    if (graph_.has_lists(Direction::kIn)) check_lists(Direction::kIn, in);
    if (graph_.has_lists(Direction::kOut)) check_lists(Direction::kOut, out);
    if (lists_are_sound_ && graph_.is_undirected() && in.forward != in.backward)
      report_one_sided_edge();
    if (lists_are_sound_ && graph_.has_lists(Direction::kIn) && graph_.has_lists(Direction::kOut) &&
        in.edges != out.edges)
      report_wrong_edge_id();
    check_node_ids();
  }

 private:
  void check_offsets(const Lists& lists) {
    const std::int64_t* offsets = lists.offsets();
    const std::uint64_t last = graph_.num_nodes();
    verifier_.check_section(lists.indptr(), [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t node = std::max<std::uint64_t>(begin, 1); node < end; ++node) {
        if (offsets[node - 1] <= offsets[node]) continue;
        return verifier_.report(lists.indptr(), node,
                                "the list of node " + std::to_string(node - 1) + " begins at " +
                                    std::to_string(offsets[node - 1]) + " and ends at " +
                                    std::to_string(offsets[node]));
      }
    });
    if (offsets[0] != 0)
      verifier_.report(lists.indptr(), 0,
                       "the first offset is " + std::to_string(offsets[0]) + " instead of 0");
    if (static_cast<std::uint64_t>(offsets[last]) != graph_.num_edges())
      verifier_.report(lists.indptr(), last,
                       "the last offset is " + std::to_string(offsets[last]) +
                           " instead of the number of edges, " +
                           std::to_string(graph_.num_edges()));
  }

  // Block by block: the checksums of all sections, the range of every id, and the lists that begin
  // in the block.
  void check_lists(Direction direction, EdgeSums& sums) {
    const Lists lists(graph_, direction);
    const bool offsets_are_sound = verifier_.is_sound(lists.indptr());
    if (!offsets_are_sound) lists_are_sound_ = false;
    const std::uint64_t num_edges = graph_.num_edges();
    const auto blocks = static_cast<std::int64_t>((num_edges + kBlockEdges - 1) / kBlockEdges);
    parallel_for(blocks, 1, [&](std::int64_t block, std::int64_t) {
      const std::uint64_t begin = static_cast<std::uint64_t>(block) * kBlockEdges;
      const std::uint64_t end = std::min(begin + kBlockEdges, num_edges);
      for (const SectionKind kind :
           {SectionKind::kIndices, SectionKind::kWeights, SectionKind::kAlias,
            SectionKind::kTimestamps, SectionKind::kEdgeIds, SectionKind::kSourceRows})
        if (const Section* section = lists.find(kind)) verifier_.check_chunks(*section, begin, end);
      check_items(lists, begin, end);
      if (offsets_are_sound) check_lists_from(lists, direction, begin, end, sums);
    });
  }

  void check_items(const Lists& lists, std::uint64_t begin, std::uint64_t end) {
    const auto check = [&](const Section* section, const auto& is_fine, const auto& describe) {
      if (section == nullptr) return;
      for (std::uint64_t edge = begin; edge < end; ++edge) {
        if (is_fine(edge)) continue;
        lists_are_sound_ = false;
        return verifier_.report(*section, edge,
                                "at position " + std::to_string(edge) + ": " + describe(edge));
      }
    };
    const auto below = [](std::int64_t value, std::uint64_t limit) {
      return static_cast<std::uint64_t>(value) < limit;
    };
    check(
        &lists.indices(),
        [&](std::uint64_t edge) { return below(lists.neighbor(edge), graph_.num_nodes()); },
        [&](std::uint64_t edge) {
          return "neighbor " + std::to_string(lists.neighbor(edge)) + " in a graph of " +
                 std::to_string(graph_.num_nodes()) + " nodes";
        });
    check(
        lists.find(SectionKind::kWeights),
        [&](std::uint64_t edge) {
          return std::isfinite(lists.weight(edge)) && lists.weight(edge) >= 0;
        },
        [&](std::uint64_t edge) {
          return "weight " + std::to_string(lists.weight(edge)) +
                 " is not a finite number of at least 0";
        });
    check(
        lists.find(SectionKind::kEdgeIds),
        [&](std::uint64_t edge) { return below(lists.edge_id(edge), graph_.num_edges()); },
        [&](std::uint64_t edge) {
          return "edge id " + std::to_string(lists.edge_id(edge)) + " of " +
                 std::to_string(graph_.num_edges()) + " edges";
        });
    const Section* rows = lists.find(SectionKind::kSourceRows);
    check(
        rows, [&](std::uint64_t edge) { return lists.integer(*rows, edge) >= 0; },
        [&](std::uint64_t edge) {
          return "source row " + std::to_string(lists.integer(*rows, edge)) + " is negative";
        });
  }

  void check_lists_from(const Lists& lists, Direction direction, std::uint64_t begin,
                        std::uint64_t end, EdgeSums& sums) {
    const std::int64_t* offsets = lists.offsets();
    const auto* first =
        std::lower_bound(offsets, offsets + graph_.num_nodes(), static_cast<std::int64_t>(begin));
    std::uint64_t edges = 0, forward = 0, backward = 0;
    for (auto node = static_cast<std::uint64_t>(first - offsets);
         node < graph_.num_nodes() && static_cast<std::uint64_t>(offsets[node]) < end; ++node) {
      const auto from = static_cast<std::uint64_t>(offsets[node]);
      const auto to = static_cast<std::uint64_t>(offsets[node + 1]);
      // Checked before, but a file that is overwritten meanwhile must not lead us astray.
      if (from > to || to > graph_.num_edges()) continue;
      check_sorted(lists, node, from, to);
      check_alias(lists, node, from, to);
      for (std::uint64_t edge = from; edge < to; ++edge) {
        const auto other = static_cast<std::uint64_t>(lists.neighbor(edge));
        const std::uint64_t source = direction == Direction::kIn ? other : node;
        const std::uint64_t target = direction == Direction::kIn ? node : other;
        const std::uint64_t data =
            mix(static_cast<std::uint64_t>(lists.time(edge)),
                std::uint64_t{std::bit_cast<std::uint32_t>(lists.weight(edge))});
        const std::uint64_t hash = mix(mix(data, source), target);
        edges += mix(hash, static_cast<std::uint64_t>(lists.edge_id(edge)));
        forward += hash;
        backward += mix(mix(data, target), source);
      }
    }
    sums.edges += edges;
    sums.forward += forward;
    sums.backward += backward;
  }

  void check_sorted(const Lists& lists, std::uint64_t node, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t edge = from + 1; edge < to; ++edge) {
      const std::pair before{lists.time(edge - 1), lists.neighbor(edge - 1)};
      const std::pair after{lists.time(edge), lists.neighbor(edge)};
      const bool by_time = graph_.mount().header().has(kFlagSortedByTime);
      if (by_time ? before <= after : before.second <= after.second) continue;
      lists_are_sound_ = false;
      return verifier_.report(lists.indices(), edge,
                              "the list of node " + std::to_string(node) +
                                  " is not sorted at position " + std::to_string(edge));
    }
  }

  // The share of each neighbor that the table gives must be that of its weight.
  void check_alias(const Lists& lists, std::uint64_t node, std::uint64_t from, std::uint64_t to) {
    const Section* section = lists.find(SectionKind::kAlias);
    if (section == nullptr || from == to) return;
    const auto* table = graph_.mount().data<std::uint64_t>(*section) + from;
    const std::uint64_t length = to - from;
    double sum = 0.0;
    for (std::uint64_t edge = from; edge < to; ++edge) sum += lists.weight(edge);
    std::vector<double> share(length, 0.0);
    const auto wrong = [&](std::uint64_t place) {
      verifier_.report(*section, from + place,
                       "the table of node " + std::to_string(node) + " is wrong at place " +
                           std::to_string(place));
    };
    for (std::uint64_t i = 0; i < length; ++i) {
      if (sum <= 0.0) {
        if (table[i] != kNoPick) return wrong(i);
        continue;
      }
      const std::uint32_t alias = alias_of(table[i]);
      if (alias >= length) return wrong(i);
      const double kept = alias_threshold(table[i]) / 4294967296.0;
      share[i] += kept;
      share[alias] += 1.0 - kept;
    }
    if (sum <= 0.0) return;
    for (std::uint64_t i = 0; i < length; ++i) {
      const double expected =
          static_cast<double>(lists.weight(from + i)) * static_cast<double>(length) / sum;
      const bool is_picked_in_vain = lists.weight(from + i) == 0 && share[i] != 0.0;
      // Thresholds are rounded to 2^-32, and an entry may be the alias of all the others.
      const double tolerance = 1e-6 * (1.0 + expected) + 1e-9 * static_cast<double>(length);
      if (is_picked_in_vain || !(std::abs(share[i] - expected) <= tolerance)) return wrong(i);
    }
  }

  // Edge by edge: is it in the other node's list as often as the other node is in this one? The
  // lists are sorted, so a hub's need not be gone through for each of its edges.
  void report_one_sided_edge() {
    const Lists lists(graph_, Direction::kIn);
    const bool by_time = graph_.mount().header().has(kFlagSortedByTime);
    using Key = std::pair<std::int64_t, std::uint64_t>;
    const auto key_of = [&](std::uint64_t edge) {
      return Key{by_time ? lists.time(edge) : 0, static_cast<std::uint64_t>(lists.neighbor(edge))};
    };
    const auto first_not_below = [&](std::uint64_t node, const Key& key) {
      auto low = static_cast<std::uint64_t>(lists.offsets()[node]);
      auto high = static_cast<std::uint64_t>(lists.offsets()[node + 1]);
      while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (key_of(middle) < key)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    const auto count = [&](std::uint64_t node, const Key& key) {
      return first_not_below(node, {key.first, key.second + 1}) - first_not_below(node, key);
    };
    for (std::uint64_t edge = 0; edge < graph_.num_edges(); ++edge) {
      const std::uint64_t node = lists.owner(edge);
      const auto [time, neighbor] = key_of(edge);
      if (count(node, {time, neighbor}) == count(neighbor, {time, node})) continue;
      return verifier_.report(lists.indices(), edge,
                              "the undirected edge between " + std::to_string(node) + " and " +
                                  std::to_string(neighbor) + " is not in both their lists");
    }
    verifier_.report(lists.indices(), 0,
                     "the two halves of some undirected edge differ in weight or time");
  }

  void report_wrong_edge_id() {
    const Lists in(graph_, Direction::kIn), out(graph_, Direction::kOut);
    const Section& section = *out.find(SectionKind::kEdgeIds);
    for (std::uint64_t edge = 0; edge < graph_.num_edges(); ++edge) {
      const auto id = static_cast<std::uint64_t>(out.edge_id(edge));
      const bool is_same_edge = static_cast<std::uint64_t>(in.neighbor(id)) == out.owner(edge) &&
                                in.owner(id) == static_cast<std::uint64_t>(out.neighbor(edge)) &&
                                in.time(id) == out.time(edge) && in.weight(id) == out.weight(edge);
      if (is_same_edge) continue;
      return verifier_.report(
          section, edge,
          "the edge from " + std::to_string(out.owner(edge)) + " to " +
              std::to_string(out.neighbor(edge)) + " is not the incoming edge " +
              std::to_string(id) + ", from " + std::to_string(in.neighbor(id)) + " to " +
              std::to_string(in.owner(id)) + ", or differs from it in weight or time");
    }
    verifier_.report(section, 0, "two outgoing edges have the same edge id");
  }

  void check_node_ids() {
    const Header& header = graph_.mount().header();
    for (const SectionKind kind : {SectionKind::kNodeIds, SectionKind::kNodeNameOffsets,
                                   SectionKind::kNodeNameBytes, SectionKind::kNodeIdOrder})
      if (const Section* section = header.find(kind)) verifier_.check_section(*section, nullptr);
    if (header.find(SectionKind::kNodeNameOffsets) != nullptr && !check_names()) return;
    if (const Section* order = header.find(SectionKind::kNodeIdOrder)) check_id_order(*order);
  }

  std::string_view name_of(std::uint64_t node) const {
    const Header& header = graph_.mount().header();
    const Section& bytes = *header.find(SectionKind::kNodeNameBytes);
    const auto* offsets =
        graph_.mount().data<std::int64_t>(*header.find(SectionKind::kNodeNameOffsets));
    const auto begin = static_cast<std::uint64_t>(offsets[node]);
    const auto end = static_cast<std::uint64_t>(offsets[node + 1]);
    if (begin > end || end > bytes.rows) return {};  // see check_lists_from
    return {graph_.mount().data<char>(bytes) + begin, static_cast<std::size_t>(end - begin)};
  }

  bool check_names() {
    const Header& header = graph_.mount().header();
    const Section& section = *header.find(SectionKind::kNodeNameOffsets);
    const Section& bytes = *header.find(SectionKind::kNodeNameBytes);
    const auto* offsets = graph_.mount().data<std::int64_t>(section);
    for (std::uint64_t node = 0; node <= graph_.num_nodes(); ++node) {
      const std::int64_t least = node == 0 ? 0 : offsets[node - 1];
      const bool is_end_right = node < graph_.num_nodes()
                                    ? static_cast<std::uint64_t>(offsets[node]) <= bytes.rows
                                    : static_cast<std::uint64_t>(offsets[node]) == bytes.rows;
      if (offsets[node] >= least && is_end_right && (node > 0 || offsets[0] == 0)) continue;
      verifier_.report(section, node,
                       "offset " + std::to_string(offsets[node]) + " of name " +
                           std::to_string(node) + " is out of order");
      return false;
    }
    for (std::uint64_t node = 0; node < graph_.num_nodes(); ++node)
      if (!is_utf8(name_of(node)))
        verifier_.report(bytes, static_cast<std::uint64_t>(offsets[node]),
                         "the name of node " + std::to_string(node) + " is not valid UTF-8");
    return true;
  }

  // Strictly ascending keys name each node once, so the order is a permutation as well.
  void check_id_order(const Section& order) {
    const Header& header = graph_.mount().header();
    const Section* numbers = header.find(SectionKind::kNodeIds);
    const auto node_at = [&](std::uint64_t place) {
      return static_cast<std::uint64_t>(
          order.dtype == DType::kInt32
              ? std::int64_t{graph_.mount().data<std::int32_t>(order)[place]}
              : graph_.mount().data<std::int64_t>(order)[place]);
    };
    const auto ascends = [&](std::uint64_t before, std::uint64_t after) {
      if (numbers == nullptr) return name_of(before) < name_of(after);
      const auto* ids = graph_.mount().data<std::int64_t>(*numbers);
      return ids[before] < ids[after];
    };
    for (std::uint64_t place = 0; place < graph_.num_nodes(); ++place) {
      const std::uint64_t node = node_at(place);
      if (node >= graph_.num_nodes())
        return verifier_.report(order, place, "node " + std::to_string(node) + " does not exist");
      if (place > 0 && !ascends(node_at(place - 1), node))
        return verifier_.report(order, place,
                                "the external ids of nodes " + std::to_string(node_at(place - 1)) +
                                    " and " + std::to_string(node) + " are out of order");
    }
  }

  const Graph& graph_;
  Verifier& verifier_;
  std::atomic<bool> lists_are_sound_ = true;
};

}  // namespace

void verify_graph(const Graph& graph, Verifier& verifier) {
  GraphVerifier(graph, verifier).run();
}

}  // namespace graphmount
