#include "graphmount/node_ids.hpp"

#include <algorithm>
#include <numeric>

#include "graphmount/error.hpp"
#include "graphmount/ids.hpp"
#include "graphmount/parallel.hpp"
#include "graphmount/utf8.hpp"

namespace graphmount {
namespace {

constexpr std::int64_t kGrain = 1 << 12;

template <class KeyOf>
void sort_unique(std::vector<NodeId>& order, const KeyOf& key_of, const auto& show) {
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    return key_of(a) != key_of(b) ? key_of(a) < key_of(b) : a < b;
  });
  const auto twin = std::adjacent_find(order.begin(), order.end(),
                                       [&](NodeId a, NodeId b) { return key_of(a) == key_of(b); });
  if (twin != order.end())
    throw SourceError("node_ids: nodes " + std::to_string(*twin) + " and " +
                      std::to_string(*(twin + 1)) + " have the same external id " +
                      show(key_of(*twin)));
}

std::string show_number(std::int64_t number) {
  return std::to_string(number);
}
std::string show_name(std::string_view name) {
  return "'" + std::string(name) + "'";
}

}  // namespace

std::vector<NodeId> sorted_order(const ExternalIds& ids) {
  std::vector<NodeId> order(static_cast<std::size_t>(ids.size()));
  std::iota(order.begin(), order.end(), 0);
  if (ids.names.empty()) {
    sort_unique(
        order, [&](NodeId node) { return ids.numbers[static_cast<std::size_t>(node)]; },
        show_number);
  } else {
    sort_unique(
        order, [&](NodeId node) { return ids.names[static_cast<std::size_t>(node)]; }, show_name);
  }
  return order;
}

NodeIds::Kind NodeIds::kind_of(const Graph& graph) {
  const Header& header = graph.mount().header();
  if (header.find(SectionKind::kNodeIds) != nullptr) return Kind::kNumbers;
  if (header.find(SectionKind::kNodeNameOffsets) != nullptr) return Kind::kNames;
  return Kind::kNone;
}

NodeIds::NodeIds(std::shared_ptr<const Graph> graph)
    : graph_(std::move(graph)), kind_(kind_of(*graph_)) {
  if (kind_ == Kind::kNone)
    throw MissingDataError(graph_->mount().file().path(),
                           "the graph has no external node ids; its nodes are known by their "
                           "numbers (compile_graph takes node_ids=)");
}

void NodeIds::require_kind(Kind kind) const {
  if (kind_ != kind)
    throw MissingDataError(graph_->mount().file().path(),
                           kind_ == Kind::kNames
                               ? "the external node ids are strings, not integers"
                               : "the external node ids are integers, not strings");
}

NodeId NodeIds::node_at(std::uint64_t place) const {
  const Mount& mount = graph_->mount();
  const Section& order = *mount.header().find(SectionKind::kNodeIdOrder);
  const NodeId node = order.dtype == DType::kInt32 ? mount.data<std::int32_t>(order)[place]
                                                   : mount.data<std::int64_t>(order)[place];
  if (static_cast<std::uint64_t>(node) >= graph_->num_nodes())
    throw FormatError(mount.file().path(),
                      "the order of the external ids names node " + std::to_string(node) +
                          "; the file is damaged: `graphmount verify` says where");
  return node;
}

std::int64_t NodeIds::number_of(NodeId node) const {
  const Mount& mount = graph_->mount();
  return mount.data<std::int64_t>(*mount.header().find(SectionKind::kNodeIds))[node];
}

std::string_view NodeIds::name_of(NodeId node) const {
  const Mount& mount = graph_->mount();
  const auto* offsets =
      mount.data<std::int64_t>(*mount.header().find(SectionKind::kNodeNameOffsets));
  const Section& bytes = *mount.header().find(SectionKind::kNodeNameBytes);
  const std::int64_t begin = offsets[node], end = offsets[node + 1];
  if (begin < 0 || begin > end || static_cast<std::uint64_t>(end) > bytes.rows)
    throw FormatError(mount.file().path(),
                      "the name of node " + std::to_string(node) + " goes from byte " +
                          std::to_string(begin) + " to " + std::to_string(end) +
                          "; the file is damaged: `graphmount verify` says where");
  return {mount.data<char>(bytes) + begin, static_cast<std::size_t>(end - begin)};
}

void NodeIds::to_external(std::span<const NodeId> nodes, std::span<std::int64_t> out) const {
  require_kind(Kind::kNumbers);
  require_ids(nodes, graph_->num_nodes(), "node");
  graph_->mount().file().read_guarded([&] {
    parallel_for(
        static_cast<std::int64_t>(nodes.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            out[i] = number_of(nodes[i]);
        });
  });
}

std::vector<std::string> NodeIds::to_external_names(std::span<const NodeId> nodes) const {
  require_kind(Kind::kNames);
  require_ids(nodes, graph_->num_nodes(), "node");
  return graph_->mount().file().read_guarded([&] {
    std::vector<std::string> names;
    names.reserve(nodes.size());
    for (const NodeId node : nodes) {
      names.emplace_back(name_of(node));
      if (!is_utf8(names.back()))
        throw FormatError(graph_->mount().file().path(),
                          "the name of node " + std::to_string(node) +
                              " is not valid UTF-8; the file is damaged: `graphmount verify` says "
                              "where");
    }
    return names;
  });
}

template <class Key, class KeyOf>
void NodeIds::find_all(std::span<const Key> keys, std::span<NodeId> out,
                       const KeyOf& key_of) const {
  const auto find_one = [&](const Key& key) -> NodeId {
    std::uint64_t low = 0, high = graph_->num_nodes();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (key_of(node_at(middle)) < key)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == graph_->num_nodes()) return -1;
    const NodeId node = node_at(low);
    return key_of(node) == key ? node : -1;
  };
  graph_->mount().file().read_guarded([&] {
    parallel_for(
        static_cast<std::int64_t>(keys.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            out[i] = find_one(keys[i]);
        });
  });
}

template <class Key>
void NodeIds::require_all(std::span<const Key> keys, std::span<const NodeId> nodes) const {
  const auto missing = std::find(nodes.begin(), nodes.end(), -1);
  if (missing == nodes.end()) return;
  const auto place = static_cast<std::size_t>(missing - nodes.begin());
  std::string shown;
  if constexpr (std::is_same_v<Key, std::int64_t>)
    shown = show_number(keys[place]);
  else
    shown = show_name(keys[place]);
  throw IdError("no node has the external id " + shown + " (at position " + std::to_string(place) +
                ")");
}

void NodeIds::find(std::span<const std::int64_t> keys, std::span<NodeId> out) const {
  require_kind(Kind::kNumbers);
  find_all(keys, out, [&](NodeId node) { return number_of(node); });
}

void NodeIds::find(std::span<const std::string_view> keys, std::span<NodeId> out) const {
  require_kind(Kind::kNames);
  find_all(keys, out, [&](NodeId node) { return name_of(node); });
}

void NodeIds::to_internal(std::span<const std::int64_t> keys, std::span<NodeId> out) const {
  find(keys, out);
  require_all(keys, std::span<const NodeId>(out));
}

void NodeIds::to_internal(std::span<const std::string> keys, std::span<NodeId> out) const {
  require_kind(Kind::kNames);
  find_all(keys, out, [&](NodeId node) { return name_of(node); });
  require_all(keys, std::span<const NodeId>(out));
}

}  // namespace graphmount
