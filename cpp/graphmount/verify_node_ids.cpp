// The rules about external node ids: names that are text, all ids different, their order true.
#include <functional>
#include <string>
#include <string_view>

#include "graphmount/parallel.hpp"
#include "graphmount/utf8.hpp"
#include "graphmount/verifier.hpp"

namespace graphmount {
namespace {

class NodeIdVerifier {
 public:
  NodeIdVerifier(const Graph& graph, Verifier& verifier) : graph_(graph), verifier_(verifier) {}

  void run() {
    const Header& header = graph_.mount().header();
    for (const SectionKind kind : {SectionKind::kNodeIds, SectionKind::kNodeNameOffsets,
                                   SectionKind::kNodeNameBytes, SectionKind::kNodeIdOrder})
      if (const Section* section = header.find(kind)) verifier_.check_section(*section, nullptr);
    if (header.find(SectionKind::kNodeNameOffsets) != nullptr && !check_names()) return;
    if (const Section* order = header.find(SectionKind::kNodeIdOrder)) check_id_order(*order);
  }

 private:
  std::string_view name_of(std::uint64_t node) const {
    const Header& header = graph_.mount().header();
    const Section& bytes = *header.find(SectionKind::kNodeNameBytes);
    const auto* offsets =
        graph_.mount().data<std::int64_t>(*header.find(SectionKind::kNodeNameOffsets));
    const auto begin = static_cast<std::uint64_t>(offsets[node]);
    const auto end = static_cast<std::uint64_t>(offsets[node + 1]);
    if (begin > end || end > bytes.rows) return {};  // the file is being overwritten
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
    for_each_node([&](std::uint64_t node) {
      if (!is_utf8(name_of(node)))
        verifier_.report(bytes, static_cast<std::uint64_t>(offsets[node]),
                         "the name of node " + std::to_string(node) + " is not valid UTF-8");
    });
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
    for_each_node([&](std::uint64_t place) {
      const std::uint64_t node = node_at(place);
      if (node >= graph_.num_nodes())
        return verifier_.report(order, place, "node " + std::to_string(node) + " does not exist");
      if (place == 0 || node_at(place - 1) >= graph_.num_nodes()) return;
      if (!ascends(node_at(place - 1), node))
        verifier_.report(order, place,
                         "the external ids of nodes " + std::to_string(node_at(place - 1)) +
                             " and " + std::to_string(node) + " are out of order");
    });
  }

  void for_each_node(const std::function<void(std::uint64_t)>& check) {
    parallel_for(static_cast<std::int64_t>(graph_.num_nodes()), 1 << 14,
                 [&](std::int64_t begin, std::int64_t end) {
                   verifier_.tick();
                   for (std::int64_t node = begin; node < end; ++node)
                     check(static_cast<std::uint64_t>(node));
                 });
  }

  const Graph& graph_;
  Verifier& verifier_;
};

}  // namespace

void verify_node_ids(const Graph& graph, Verifier& verifier) {
  NodeIdVerifier(graph, verifier).run();
}

}  // namespace graphmount
