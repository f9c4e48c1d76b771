// The rules about a graph as a whole: its offsets, and that the lists of its two directions have
// the same edges.
//
// The latter is checked by sums over hashes of edges (see EdgeSum): one sequential pass for each
// direction instead of a random access for each edge. Only when the sums differ does a slow second
// pass look for the edge.
#include <algorithm>
#include <optional>

#include "graphmount/verify/list_checks.hpp"
#include "graphmount/verify/list_columns.hpp"
#include "graphmount/verify/verifier.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kTickEdges = 1 << 16;

class GraphVerifier {
 public:
  GraphVerifier(const Graph& graph, Verifier& verifier) : graph_(graph), verifier_(verifier) {}

  void run() {
    const bool has_in = graph_.has_lists(Direction::kIn),
               has_out = graph_.has_lists(Direction::kOut);
    const EdgeSum sum = graph_.is_undirected() ? EdgeSum::kAsymmetry
                        : has_in && has_out    ? EdgeSum::kWithIds
                                               : EdgeSum::kNone;
    ListFindings in, out;
    if (has_in) check_direction(Direction::kIn, sum, in);
    if (has_out) check_direction(Direction::kOut, sum, out);
    if (!in.sound || !out.sound) return;  // what is wrong has been said, and may not be followed
    if (sum == EdgeSum::kAsymmetry && in.sum != 0) report_one_sided_edge();
    if (sum == EdgeSum::kWithIds && in.sum != out.sum) report_wrong_edge_id();
  }

 private:
  void check_direction(Direction direction, EdgeSum sum, ListFindings& findings) {
    const ListColumns lists(graph_, direction);
    check_offsets(lists);
    verify_lists(graph_, lists, verifier_.is_sound(*lists.indptr), sum, verifier_, findings);
  }

  void check_offsets(const ListColumns& lists) {
    const std::int64_t* offsets = lists.offsets;
    const std::uint64_t last = lists.num_lists;
    verifier_.check_section(*lists.indptr, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t node = std::max<std::uint64_t>(begin, 1); node < end; ++node) {
        if (offsets[node - 1] <= offsets[node]) continue;
        return verifier_.report(*lists.indptr, node,
                                say("the list of node ", node - 1, " begins at ", offsets[node - 1],
                                    " and ends at ", offsets[node]));
      }
    });
    if (offsets[0] != 0)
      verifier_.report(*lists.indptr, 0, say("the first offset is ", offsets[0], " instead of 0"));
    if (static_cast<std::uint64_t>(offsets[last]) != graph_.num_edges())
      verifier_.report(*lists.indptr, last,
                       say("the last offset is ", offsets[last],
                           " instead of the number of edges, ", graph_.num_edges()));
  }

  // Edge by edge: is it in the other node's list as often as the other node is in this one? The
  // lists are sorted, so a hub's need not be gone through for each of its edges.
  void report_one_sided_edge() {
    const ListColumns lists(graph_, Direction::kIn);
    const bool by_time = graph_.mount().header().has(kFlagSortedByTime);
    using Key = std::pair<std::int64_t, std::uint64_t>;
    const auto key_of = [&](std::uint64_t edge) {
      return Key{by_time ? lists.time(edge) : 0, lists.neighbor(edge)};
    };
    const auto first_not_below = [&](std::uint64_t node, const Key& key) {
      // All was sound, but a file that is overwritten meanwhile must not lead us astray.
      if (node >= lists.num_lists) return std::uint64_t{0};
      auto low = static_cast<std::uint64_t>(read_once(lists.offsets + node));
      auto high = static_cast<std::uint64_t>(read_once(lists.offsets + node + 1));
      high = std::min(high, graph_.num_edges());
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
      if (edge % kTickEdges == 0) verifier_.tick();
      const std::uint64_t node = lists.owner(edge);
      const Key key = key_of(edge);
      const auto [time, neighbor] = key;
      const auto report = [&](const std::string& problem) {
        verifier_.report(*lists.indices, edge,
                         say("the undirected edge between ", node, " and ", key.second, problem));
      };
      if (count(node, {time, neighbor}) != count(neighbor, {time, node}))
        return report(" is not in both their lists");
      // Edges between the same two nodes stand in the same order in both lists.
      const std::uint64_t twin =
          first_not_below(neighbor, {time, node}) + edge - first_not_below(node, {time, neighbor});
      if (twin >= graph_.num_edges() || lists.weight(edge) != lists.weight(twin) ||
          lists.time(edge) != lists.time(twin))
        return report(" has another weight or time in the other's list");
    }
    verifier_.report(*lists.indices, 0, "the lists are not those of an undirected graph");
  }

  void report_wrong_edge_id() {
    const ListColumns in(graph_, Direction::kIn), out(graph_, Direction::kOut);
    const Section& section = *graph_.mount().header().find(SectionKind::kEdgeIds, Direction::kOut);
    for (std::uint64_t edge = 0; edge < graph_.num_edges(); ++edge) {
      if (edge % kTickEdges == 0) verifier_.tick();
      const std::uint64_t id = out.edge_id(edge);
      if (id >= graph_.num_edges())  // it was sound: the file is being overwritten
        return verifier_.report(section, edge, say("edge id ", id, " does not exist"));
      const bool is_same_edge = in.neighbor(id) == out.owner(edge) &&
                                in.owner(id) == out.neighbor(edge) &&
                                in.time(id) == out.time(edge) && in.weight(id) == out.weight(edge);
      if (is_same_edge) continue;
      return verifier_.report(section, edge,
                              say("the edge from ", out.owner(edge), " to ", out.neighbor(edge),
                                  " is not the incoming edge ", id, ", from ", in.neighbor(id),
                                  " to ", in.owner(id), ", or differs from it in weight or time"));
    }
    verifier_.report(section, 0, "two outgoing edges have the same edge id");
  }

  const Graph& graph_;
  Verifier& verifier_;
};

}  // namespace

void verify_graph(const Graph& graph, Verifier& verifier) {
  GraphVerifier(graph, verifier).run();
  verify_node_ids(graph.mount(), graph.num_destinations(), verifier);
}

}  // namespace graphmount
