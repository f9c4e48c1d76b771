// Where the seeds of batches come from: it returns, for the number of a batch, its seeds and what
// belongs to them.
//
// A source is a pure function of batch, key and places. So batches can be made ahead, by any
// thread, and an epoch can be continued at any batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/places.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/base/types.hpp"

namespace graphmount {

struct BatchSeeds {
  std::vector<NodeId> nodes;
  std::vector<std::int64_t> times;  // one for each node, if sampling is temporal; else empty
  std::vector<std::int64_t> ends;   // of links: which seed is at each end; see link_seeds.hpp
  std::size_t type = 0;             // of the nodes
  // Of links between two types: the seeds at their destinations, while `nodes` are those at their
  // sources.
  std::vector<NodeId> destinations = {};
  std::vector<std::int64_t> destination_times = {};
  std::size_t destination_type = 0;
};

/// Inputs cut into batches of one size; the last takes what is left.
class BatchCut {
 public:
  /// Throws std::invalid_argument if batches would be empty.
  BatchCut(std::uint64_t num_inputs, std::uint64_t batch_size);

  std::uint64_t num_batches() const { return num_batches_; }

  /// The part of `inputs` that a batch has. Throws std::out_of_range if there is no such batch.
  std::span<const std::int64_t> part(std::span<const std::int64_t> inputs,
                                     std::uint64_t batch) const;

 private:
  std::uint64_t batch_size_, num_batches_;
};

class SeedSource {
 public:
  virtual ~SeedSource() = default;

  virtual std::uint64_t num_batches() const = 0;

  /// The seeds of a batch, whose key this is; its inputs have these places in the whole batch. It
  /// may be called by several threads at once.
  virtual BatchSeeds seeds_of(std::uint64_t batch, RandomKey key, Places places) const = 0;
  BatchSeeds seeds_of(std::uint64_t batch, RandomKey key) const {
    return seeds_of(batch, key, Places{});
  }
};

/// Seeds that are given as nodes of one type, in the order of an epoch.
class NodeSeeds : public SeedSource {
 public:
  /// `times` has one for each node, or none. Throws std::invalid_argument.
  NodeSeeds(std::vector<NodeId> nodes, std::vector<std::int64_t> times, std::uint64_t batch_size,
            std::size_t type = 0);

  std::uint64_t num_batches() const override { return cut_.num_batches(); }
  using SeedSource::seeds_of;
  BatchSeeds seeds_of(std::uint64_t batch, RandomKey key, Places places) const override;

 private:
  std::vector<NodeId> nodes_;
  std::vector<std::int64_t> times_;
  BatchCut cut_;
  std::size_t type_;
};

}  // namespace graphmount
