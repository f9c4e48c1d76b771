// Reads the external ids of a mounted graph, or of a file of ids: the integers or strings by which
// the source of the graph knows its nodes.
//
// They are kept in the file together with a hash table, so both directions of the mapping work on
// the mounted file, without an index in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "graphmount/graph/graph.hpp"
#include "graphmount/graph/ids/external_ids.hpp"
#include "graphmount/graph/node_id_file.hpp"

namespace graphmount {

class NodeIds {
 public:
  enum class Kind { kNone, kNumbers, kNames };

  /// Throws MissingDataError if the graph has no external ids.
  explicit NodeIds(const std::shared_ptr<const Graph>& graph);
  explicit NodeIds(const std::shared_ptr<const NodeIdFile>& file);
  static Kind kind_of(const Mount& mount);

  Kind kind() const { return kind_; }
  /// These throw IdError for an id or key that does not exist, and MissingDataError if the ids are
  /// of the other kind. The external ids may go to the memory of the nodes.
  void to_external(std::span<const NodeId> nodes, std::span<std::int64_t> out) const;
  OwnedNames to_external_names(std::span<const NodeId> nodes) const;
  void to_internal(std::span<const std::int64_t> keys, std::span<NodeId> out) const;
  void to_internal(const NameColumn& keys, std::span<NodeId> out) const;
  /// The same, but a key that does not exist has the node -1.
  void find(std::span<const std::int64_t> keys, std::span<NodeId> out) const;
  void find(const NameColumn& keys, std::span<NodeId> out) const;

 private:
  struct NumberKeys;
  struct NameKeys;

  NodeIds(std::shared_ptr<const void> owner, const Mount& mount, std::uint64_t num_nodes);
  template <class Body, class Fetch>
  void for_each_node(std::span<const NodeId> nodes, const Body& body, const Fetch& fetch) const;
  void require_kind(Kind kind) const;
  std::string_view name_of(NodeId node) const;
  template <class Keys>
  void find_all(const Keys& keys, std::span<NodeId> out) const;

  std::shared_ptr<const void> owner_;
  const Mount* mount_;
  std::uint64_t num_nodes_;
  Kind kind_;
  // Sections of the mounted file; the first or the other two are there.
  const std::int64_t* numbers_ = nullptr;
  const std::int64_t* offsets_ = nullptr;
  std::span<const char> bytes_{};
};

}  // namespace graphmount
