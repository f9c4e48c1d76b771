// External node ids: the integers or strings by which the source of a graph knows its nodes.
//
// They are kept in the file together with their sorted order, so both directions of the mapping
// work on the mounted file, without an index in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphmount/graph.hpp"

namespace graphmount {

/// Strings one after the other: string i goes from offsets[i] to offsets[i + 1].
struct NameColumn {
  std::span<const std::int64_t> offsets;
  std::span<const char> bytes;

  bool empty() const { return offsets.size() < 2; }
  std::uint64_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {bytes.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

/// External ids on their way into a file: one of the two is empty, both are for a graph without.
struct ExternalIds {
  std::span<const std::int64_t> numbers;
  NameColumn names;

  bool empty() const { return numbers.empty() && names.empty(); }
  std::uint64_t size() const { return names.empty() ? numbers.size() : names.size(); }
};

/// The internal ids, sorted by external id. Throws SourceError if two external ids are equal.
std::vector<NodeId> sorted_order(const ExternalIds& ids);

/// Reads the external ids of a mounted graph.
class NodeIds {
 public:
  enum class Kind { kNone, kNumbers, kNames };

  /// Throws MissingDataError if the graph has no external ids.
  explicit NodeIds(std::shared_ptr<const Graph> graph);
  static Kind kind_of(const Graph& graph);

  Kind kind() const { return kind_; }
  /// These throw IdError for an id or key that does not exist, and MissingDataError if the ids are
  /// of the other kind.
  void to_external(std::span<const NodeId> nodes, std::span<std::int64_t> out) const;
  std::vector<std::string> to_external_names(std::span<const NodeId> nodes) const;
  void to_internal(std::span<const std::int64_t> keys, std::span<NodeId> out) const;
  void to_internal(std::span<const std::string> keys, std::span<NodeId> out) const;
  /// The same, but a key that does not exist has the node -1.
  void find(std::span<const std::int64_t> keys, std::span<NodeId> out) const;
  void find(std::span<const std::string_view> keys, std::span<NodeId> out) const;

 private:
  void require_kind(Kind kind) const;
  NodeId node_at(std::uint64_t place) const;
  std::int64_t number_of(NodeId node) const;
  std::string_view name_of(NodeId node) const;
  template <class Key, class KeyOf>
  void find_all(std::span<const Key> keys, std::span<NodeId> out, const KeyOf& key_of) const;
  template <class Key>
  void require_all(std::span<const Key> keys, std::span<const NodeId> nodes) const;

  std::shared_ptr<const Graph> graph_;
  Kind kind_;
};

}  // namespace graphmount
