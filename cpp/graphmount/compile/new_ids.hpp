// New ids of nodes: node i of the edges becomes node new_ids[i] of the graph, each number once.
//
// The memory is that of a caller, who might change it still: ids are checked when they are used.
// Where there are fewer than 2^32 nodes, 4 bytes hold an id, and compilers keep one for each node
// of a graph that is larger than memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graphmount/base/ids.hpp"
#include "graphmount/base/read_once.hpp"
#include "graphmount/base/types.hpp"

namespace graphmount {

class NewIds {
 public:
  /// None: nodes keep their numbers.
  NewIds() = default;
  template <class Ids>
    requires std::convertible_to<const Ids&, std::span<const NodeId>>
  NewIds(const Ids& ids) : wide_(ids) {}  // NOLINT: what is given for them may be an array
  template <class Ids>
    requires std::convertible_to<const Ids&, std::span<const std::uint32_t>>
  NewIds(const Ids& ids) : narrow_(ids) {}  // NOLINT

  bool empty() const { return size() == 0; }
  std::uint64_t size() const { return wide_.empty() ? narrow_.size() : wide_.size(); }
  bool are_same_memory(const NewIds& other) const {
    return wide_.data() == other.wide_.data() && narrow_.data() == other.narrow_.data();
  }

  /// Throws IdError if it is not below size().
  std::uint64_t operator[](std::size_t node) const {
    const std::uint64_t id = read(node);
    if (id >= size()) [[unlikely]]
      refuse_id({}, static_cast<std::int64_t>(id), size(), "new id");
    return id;
  }

  /// Throws std::invalid_argument unless these are all numbers below `count`, each once.
  void require_renumbering(std::uint64_t count) const;

 private:
  std::uint64_t read(std::size_t node) const {
    return wide_.empty() ? read_once(narrow_.data() + node)
                         : static_cast<std::uint64_t>(read_once(wide_.data() + node));
  }

  std::span<const std::uint32_t> narrow_;
  std::span<const NodeId> wide_;
};

}  // namespace graphmount
