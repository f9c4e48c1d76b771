#include "graphmount/graph/node_ids.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/fetch.hpp"
#include "graphmount/base/ids.hpp"
#include "graphmount/base/utf8.hpp"
#include "graphmount/graph/ids/node_id_table.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

// For a batch of a loader, whose other threads have work of their own, one thread is enough.
constexpr std::size_t kGrain = 1 << 16;
constexpr std::size_t kNameGrain = 1 << 12;

template <class Keys>
void require_all(const Keys& keys, std::span<const NodeId> nodes) {
  const auto missing = std::find(nodes.begin(), nodes.end(), -1);
  if (missing == nodes.end()) return;
  const auto place = static_cast<std::size_t>(missing - nodes.begin());
  throw IdError(
      say("no node has the external id ", show_id(keys[place]), " (at position ", place, ")"));
}

}  // namespace

// What find_in_table has to know of the keys: see there.
struct NodeIds::NumberKeys {
  static constexpr int kStages = 1;
  const NodeIds& ids;
  std::span<const std::int64_t> keys;

  std::uint64_t hash(std::size_t i) const { return hash_number(keys[i]); }
  void prefetch(NodeId node, int) const { fetch_line(ids.numbers_ + node); }
  bool is(std::size_t i, NodeId node) const { return ids.numbers_[node] == keys[i]; }
};

struct NodeIds::NameKeys {
  static constexpr int kStages = 2;
  const NodeIds& ids;
  const NameColumn& keys;

  std::uint64_t hash(std::size_t i) const { return hash_name(keys[i]); }
  void prefetch(NodeId node, int stage) const {
    if (stage == 0)
      fetch_line(ids.offsets_ + node);
    else
      fetch_line(ids.name_of(node).data());
  }
  bool is(std::size_t i, NodeId node) const { return ids.name_of(node) == keys[i]; }
};

NodeIds::Kind NodeIds::kind_of(const Mount& mount) {
  const Header& header = mount.header();
  if (header.find(SectionKind::kNodeIds) != nullptr) return Kind::kNumbers;
  if (header.find(SectionKind::kNodeNameOffsets) != nullptr) return Kind::kNames;
  return Kind::kNone;
}

NodeIds::NodeIds(const std::shared_ptr<const Graph>& graph)
    : NodeIds(graph, graph->mount(), graph->num_destinations()) {}

NodeIds::NodeIds(const std::shared_ptr<const NodeIdFile>& file)
    : NodeIds(file, file->mount(), file->num_nodes()) {}

NodeIds::NodeIds(std::shared_ptr<const void> owner, const Mount& mount, std::uint64_t num_nodes)
    : owner_(std::move(owner)), mount_(&mount), num_nodes_(num_nodes), kind_(kind_of(mount)) {
  const Header& header = mount.header();
  if (kind_ == Kind::kNone)
    throw MissingDataError(mount.file().path(),
                           "the graph has no external node ids; its nodes are known by their "
                           "numbers (compile_graph takes node_ids=)");
  if (kind_ == Kind::kNumbers) {
    numbers_ = mount.data<std::int64_t>(*header.find(SectionKind::kNodeIds));
  } else {
    const Section& bytes = *header.find(SectionKind::kNodeNameBytes);
    offsets_ = mount.data<std::int64_t>(*header.find(SectionKind::kNodeNameOffsets));
    bytes_ = {mount.data<char>(bytes), static_cast<std::size_t>(bytes.rows)};
  }
}

/// Calls body(i, node) for all nodes of a caller, in parallel, and fetch(node) some nodes before.
template <class Body, class Fetch>
void NodeIds::for_each_node(std::span<const NodeId> nodes, const Body& body,
                            const Fetch& fetch) const {
  parallel_for(nodes.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for_each_id(nodes, begin, end, num_nodes_, "node", body, fetch);
  });
}

void NodeIds::require_kind(Kind kind) const {
  if (kind_ != kind)
    throw MissingDataError(mount_->file().path(),
                           kind_ == Kind::kNames
                               ? "the external node ids are strings, not integers"
                               : "the external node ids are integers, not strings");
}

std::string_view NodeIds::name_of(NodeId node) const {
  const std::int64_t begin = read_once(offsets_ + node), end = read_once(offsets_ + node + 1);
  if (begin < 0 || begin > end || static_cast<std::uint64_t>(end) > bytes_.size())
    mount_->refuse(say("the name of node ", node, " goes from byte ", begin, " to ", end));
  return {bytes_.data() + begin, static_cast<std::size_t>(end - begin)};
}

void NodeIds::to_external(std::span<const NodeId> nodes, std::span<std::int64_t> out) const {
  require_kind(Kind::kNumbers);
  mount_->file().read_guarded([&] {
    for_each_node(
        nodes, [out, numbers = numbers_](std::size_t i, NodeId node) { out[i] = numbers[node]; },
        [numbers = numbers_](NodeId node) { fetch_line(numbers + node); });
  });
}

OwnedNames NodeIds::to_external_names(std::span<const NodeId> nodes) const {
  require_kind(Kind::kNames);
  return mount_->file().read_guarded([&] {
    std::vector<std::string_view> views(nodes.size());
    for_each_node(
        nodes, [&](std::size_t i, NodeId node) { views[i] = name_of(node); },
        [&](NodeId node) { fetch_line(offsets_ + node); });
    OwnedNames names;
    names.offsets.resize(nodes.size() + 1);
    std::transform_inclusive_scan(
        views.begin(), views.end(), names.offsets.begin() + 1, std::plus<>(),
        [](std::string_view view) { return static_cast<std::int64_t>(view.size()); });
    names.bytes.resize(static_cast<std::size_t>(names.offsets.back()));
    parallel_each(nodes.size(), kNameGrain, [&](std::size_t i) {
      char* copy = reinterpret_cast<char*>(names.bytes.data()) + names.offsets[i];
      std::copy(views[i].begin(), views[i].end(), copy);
      // Of the copy: the file may change between two looks.
      if (!is_utf8({copy, views[i].size()}))
        mount_->refuse(say("the name of node ", nodes[i], " is not valid UTF-8"));
    });
    return names;
  });
}

template <class Keys>
void NodeIds::find_all(const Keys& keys, std::span<NodeId> out) const {
  const Mount& mount = *mount_;
  const Section& table = *mount.header().find(SectionKind::kNodeIdTable);
  mount.with_integers(table, [&](const auto* slots) {
    const auto node_in = [&](std::uint64_t slot) {
      const NodeId node = read_once(slots + slot);
      if (static_cast<std::uint64_t>(node) >= num_nodes_ && node != -1)
        mount_->refuse(say("the table of the external ids names node ", node));
      return node;
    };
    mount.file().read_guarded(
        [&] { find_in_table(IdSlots(table.rows), slots, node_in, keys, out); });
  });
}

void NodeIds::find(std::span<const std::int64_t> keys, std::span<NodeId> out) const {
  require_kind(Kind::kNumbers);
  find_all(NumberKeys{*this, keys}, out);
}

void NodeIds::find(const NameColumn& keys, std::span<NodeId> out) const {
  require_kind(Kind::kNames);
  find_all(NameKeys{*this, keys}, out);
}

void NodeIds::to_internal(std::span<const std::int64_t> keys, std::span<NodeId> out) const {
  find(keys, out);
  require_all(keys, out);
}

void NodeIds::to_internal(const NameColumn& keys, std::span<NodeId> out) const {
  find(keys, out);
  require_all(keys, out);
}

}  // namespace graphmount
