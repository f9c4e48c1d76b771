// Seeds for link prediction: the ends of links, and of negatives that are drawn for each batch.
//
// The ends of a batch are written one after the other, n being its links and m its negatives:
//
//   no negatives   sources (n), destinations (n)
//   kBinary        sources (n), negative sources (m), destinations (n), negative destinations (m)
//   kTriplet       sources (n), destinations (n), then for each draw one negative destination of
//                  every link (n each)
//
// so a negative belongs to the link that is its place modulo n, whose time it has. Seeds are the
// distinct ends, sorted; or, if every seed has a tree of its own, all ends as they are. If links
// lead from one type of nodes to another, sources and destinations are seeds of two types, and the
// ends count those of each type from 0 on. Negatives are never kept for longer than their batch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graphmount/graph/graph.hpp"
#include "graphmount/loading/seed_source.hpp"
#include "graphmount/sampling/negatives/link_negatives.hpp"

namespace graphmount {

/// Links as they are given, of which epochs have orders.
struct Links {
  std::vector<NodeId> sources, destinations;
  std::vector<std::int64_t> times;  // one for each, or none

  /// XXH64 of the sources and then the destinations, which identifies these links.
  std::uint64_t checksum() const;
};

/// The types of nodes that links lead from and to.
struct LinkTypes {
  std::size_t source = 0, destination = 0;
};

class LinkSeeds : public SeedSource {
 public:
  /// `order` has the places of an epoch's links. Throws std::invalid_argument, IdError, and
  /// MissingDataError if the graph lacks what drawing needs.
  LinkSeeds(std::shared_ptr<const Graph> graph, std::shared_ptr<const Links> links,
            std::vector<std::int64_t> order, std::uint64_t batch_size, bool disjoint,
            LinkNegatives negatives, LinkTypes types = {});

  std::uint64_t num_batches() const override { return cut_.num_batches(); }
  using SeedSource::seeds_of;
  BatchSeeds seeds_of(std::uint64_t batch, RandomKey key, Places places) const override;

 private:
  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Links> links_;
  std::vector<std::int64_t> order_;
  BatchCut cut_;
  bool disjoint_;
  LinkNegatives negatives_;
  LinkTypes types_;
};

}  // namespace graphmount
