// The numbers that the nodes of a sample get, hop by hop, by first appearance.
//
// An *item* is a seed or an edge of the sample, in order; it stands for one node. Threads add
// chunks of items as they have them, and one thread at a time gives the items their numbers, in
// order, while others go on. This is faster than to share the numbering out, which takes three
// passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graphmount/base/fetch.hpp"
#include "graphmount/sampling/neighbors/key_table.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/in_turn.hpp"

namespace graphmount {

class SampleNumbers {
 public:
  /// How many items there can be: seeds and edges.
  static constexpr std::uint64_t kMostItems = UINT32_MAX;

  /// Begins a sample. Every seed keeps its own number, repeated or not; its node has that of the
  /// first.
  template <class KeyOf>
  void begin(std::size_t num_seeds, KeyOf key_of) {
    table_.clear();
    for (std::size_t i = 0; i < num_seeds; ++i)
      table_.number_of({key_of(i), static_cast<std::uint32_t>(i)});
  }

  /// Makes room for `num_items` more, in `num_chunks` chunks. New nodes have numbers from `next`
  /// on.
  void begin_hop(std::uint64_t next, std::size_t num_items, std::size_t num_chunks);

  /// Takes the items [begin, end) of this hop, whose nodes have the keys key_of(i), and are in
  /// `neighbors`. Once all chunks have been taken, their numbers are there in their place. From any
  /// thread; `neighbors` and `key_of` must be the same for all.
  template <class KeyOf>
  void add_chunk(std::size_t chunk, std::size_t begin, std::size_t end, std::int64_t* neighbors,
                 const KeyOf& key_of) {
    chunks_[chunk] = {begin, end};
    turns_.ready(chunk, [&](std::size_t i) { number_chunk(chunks_[i], neighbors, key_of); });
  }

  /// How many nodes are new in this hop.
  std::uint64_t num_new() const { return num_new_; }

  /// Puts the nodes that are new in this hop into `nodes` at their numbers, and the trees of their
  /// targets into `trees`, if there are trees.
  void write(const std::int64_t* targets, const std::int64_t* target_trees, std::int64_t* nodes,
             std::int64_t* trees) const;

  /// The number of the node with this key, if it is in the sample.
  std::optional<std::uint32_t> find(std::uint64_t key) const { return table_.find(key); }

  std::size_t bytes() const { return table_.bytes() + new_items_.bytes(); }

 private:
  struct Chunk {
    std::size_t begin, end;
  };
  struct NewItem {
    std::int64_t node;
    std::uint32_t item;  // of this hop
  };

  template <class KeyOf>
  void number_chunk(Chunk chunk, std::int64_t* neighbors, const KeyOf& key_of) {
    for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
      if (i + kFetchedLines < chunk.end) table_.prefetch(key_of(i + kFetchedLines));
      const auto next = static_cast<std::uint32_t>(next_ + num_new_);
      const std::uint32_t number = table_.number_of({key_of(i), next});
      // Written in any case, and kept if it is new: cheaper than to foresee which it will be.
      new_items_[num_new_] = {neighbors[i], static_cast<std::uint32_t>(i)};
      num_new_ += number == next ? 1 : 0;
      neighbors[i] = number;
    }
  }

  KeyTable table_;             // keys of nodes and their numbers
  Buffer<NewItem> new_items_;  // of this hop, in order
  std::vector<Chunk> chunks_;
  InTurn turns_;
  std::uint64_t next_ = 0, num_new_ = 0;  // of this hop
};

}  // namespace graphmount
