// The numbers that the nodes of a sample get, hop by hop, by first appearance.
//
// An *item* is a seed or an edge of the sample, in order; it stands for one node. Chunks of items
// are added at any time and by any thread. Then `find_new` finds the items that are the first with
// their node, and `write` gives these the next numbers, and every other item the number of its
// first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graphmount/sampling/neighbors/node_numbering.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

class SampleNumbers {
 public:
  /// How many items there can be: seeds and edges.
  static constexpr std::uint64_t kMostItems = UINT32_MAX;

  /// Begins a sample. Every seed keeps its own number, repeated or not; its node has that of the
  /// first.
  template <class KeyOf>
  void begin(std::size_t num_seeds, KeyOf key_of);

  /// Makes room for `num_items` more, in `num_chunks` chunks.
  void begin_hop(std::size_t num_items, std::size_t num_chunks);

  /// Takes the items [begin, end) of this hop, whose nodes have the keys key_of(i).
  template <class KeyOf>
  void add_chunk(std::size_t chunk, std::size_t begin, std::size_t end, KeyOf key_of);

  /// How many nodes are new in this hop. Call once all chunks are there.
  std::uint64_t find_new();

  /// Replaces the nodes of this hop's items by their numbers, which continue from `next`. Nodes
  /// that are new go to `nodes` at their numbers; so do the trees of their targets to `batch`, if
  /// there is one.
  void write(std::uint64_t next, std::int64_t* neighbors, const std::int64_t* targets,
             std::int64_t* nodes, std::int64_t* batch);

  /// The number of the node with this key, if it is in the sample.
  std::optional<std::uint32_t> find(std::uint64_t key) const {
    const auto item = numbering_.find(key);
    return item ? std::optional(number_[*item]) : std::nullopt;
  }

  std::size_t bytes() const {
    return numbering_.bytes() + entries_.bytes() + first_.bytes() + number_.bytes();
  }

 private:
  struct Chunk {
    std::size_t begin;
    std::array<std::uint32_t, NodeNumbering::kPartitions> counts;
  };

  NodeNumbering numbering_;
  Buffer<NumberedKey> entries_;   // of this hop, chunk by chunk, sorted by partition
  Buffer<std::uint32_t> first_;   // for each item, the first one with the same node
  Buffer<std::uint32_t> number_;  // for each item that is the first, the number of its node
  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> new_nodes_;  // for each range of items, how many of them are the first
  std::size_t first_item_ = 0, num_items_ = 0;  // of this hop
};

template <class KeyOf>
void SampleNumbers::begin(std::size_t num_seeds, KeyOf key_of) {
  numbering_.clear();
  first_.grow(num_seeds);
  number_.grow(num_seeds);
  for (std::size_t i = 0; i < num_seeds; ++i) {
    const NumberedKey entry{key_of(i), static_cast<std::uint32_t>(i)};
    numbering_.number(NodeNumbering::partition_of(entry.key), {&entry, 1}, first_.data());
    number_[i] = static_cast<std::uint32_t>(i);
  }
  first_item_ = 0;
  num_items_ = num_seeds;
}

template <class KeyOf>
void SampleNumbers::add_chunk(std::size_t index, std::size_t begin, std::size_t end, KeyOf key_of) {
  Chunk& chunk = chunks_[index];
  chunk.begin = begin;
  chunk.counts.fill(0);
  for (std::size_t i = begin; i < end; ++i) ++chunk.counts[NodeNumbering::partition_of(key_of(i))];
  std::array<NumberedKey*, NodeNumbering::kPartitions> places;
  NumberedKey* place = entries_.data() + begin;
  for (std::size_t p = 0; p < places.size(); place += chunk.counts[p++]) places[p] = place;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint64_t key = key_of(i);
    *places[NodeNumbering::partition_of(key)]++ = {key,
                                                   static_cast<std::uint32_t>(first_item_ + i)};
  }
}

}  // namespace graphmount
