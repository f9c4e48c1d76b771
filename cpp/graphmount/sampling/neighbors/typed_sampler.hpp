// Multi-hop neighbor sampling over several types of nodes and the relations between them: from
// seeds of some types to some of their neighbors through each relation, to some of theirs, and so
// on. Nodes of each type are numbered anew in the order in which they appear.
//
// In every hop, relations are followed one after the other, in their order, from the nodes that the
// hop before brought; a node that is met is followed in the next hop. A graph of one kind is a
// graph of one type and one relation (neighbor_sampler.hpp).
//
// The result is a pure function of graphs, seeds, options and key. What a node draws depends on the
// hop, the relation and the node's place among those of its type. So the number of threads changes
// nothing but the time. If every seed has a tree, it depends on the hop, the relation, the place of
// the seed and the node. So a seed has the same tree however a batch is divided among processes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphmount/base/places.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/sampling/neighbors/list_picker.hpp"
#include "graphmount/system/memory/result_memory.hpp"
#include "graphmount/table/feature_matrix.hpp"

namespace graphmount {

/// The nodes of a type: how many there are, and a table with the time of each, if they have times:
/// one column of int64.
struct NodeType {
  std::uint64_t num_nodes = 0;
  const FeatureMatrix* times = nullptr;
};

/// Edges from nodes of one type to nodes of another, or of the same; types are numbers from 0 on.
struct Relation {
  const Graph* graph = nullptr;
  std::size_t source_type = 0, destination_type = 0;
  std::vector<std::uint64_t> fanouts;  // of this relation; if there are none, those of all
};

/// The nodes of a type that a sample begins with, and the time of each if the rule is temporal.
struct TypeSeeds {
  std::span<const NodeId> nodes;
  std::span<const std::int64_t> times;
};

/// Which times count if the rule is temporal: those of the edges that are picked, or those of the
/// neighbors that they lead to. A relation that lacks them is there at any time.
enum class TimeOf { kEdges, kNodes };

struct SampleOptions {
  Direction direction = Direction::kIn;
  std::vector<std::uint64_t> fanouts;  // one for each hop; kAllNeighbors for all
  PickRule rule = {};
  TimeOf time_of = TimeOf::kEdges;
  bool disjoint = false;  // a tree of its own for each seed; always so in time
  /// Whether the result has all edges between its nodes, as the lists of the direction have them,
  /// or those that were picked.
  bool induced = false;
  bool source_rows = false;  // edges have the rows of the source in place of their ids
  RandomKey key = RandomKey(0);
  Places places = {};  // of seeds and trees, by which they draw
};

/// What a sample has of a type. (Arrays of samples differ in size, and each has its own shelf: a
/// loader has those of many batches under way.)
struct TypeSample {
  ResultBuffer nodes{1};                        // the seeds as they were given, then new nodes
  ResultBuffer batch{2};                        // if disjoint: the seed of each node
  std::vector<std::int64_t> num_sampled_nodes;  // seeds, then new nodes of each hop
};

/// What a sample has of a relation.
struct RelationSample {
  /// The numbers of the sources of all edges, then those of their destinations.
  ResultBuffer edge_index{3};
  ResultBuffer edge_ids{4};
  /// Edges lie by target: those of target i are [indptr[i], indptr[i + 1]). There is one target for
  /// each node of its type of all hops but the last. Empty if induced.
  ResultBuffer indptr{5};
  std::vector<std::int64_t> num_sampled_edges;  // of each hop; empty if induced
};

struct TypedSample {
  TypedSample() = default;
  TypedSample(TypedSample&&) = default;  // only: memory of results has one owner
  TypedSample& operator=(TypedSample&&) = default;

  std::vector<TypeSample> types;
  std::vector<RelationSample> relations;
};

/// `types` and `seeds` have an entry for each type. If disjoint, trees are numbered by the seeds of
/// the first type, then those of the second, and so on. Throws IdError, MissingDataError,
/// FormatError, FileChangedError, BudgetError (2^32 edges to nodes of a type) and
/// std::invalid_argument.
TypedSample sample_typed(std::span<const Relation> relations, std::span<const NodeType> types,
                         std::span<const TypeSeeds> seeds, const SampleOptions& options);

}  // namespace graphmount
