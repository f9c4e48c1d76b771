// Checks the neighbor lists of one direction: the range of every value, the order of every list,
// the alias tables, and what it takes to compare the direction with another.
#pragma once

#include <atomic>
#include <cstdint>

#include "graphmount/verify/list_columns.hpp"
#include "graphmount/verify/verifier.hpp"

namespace graphmount {

/// What to add up while going through the lists. The sums do not depend on the order in which edges
/// are met, so that a sequential pass over each direction can tell whether they agree.
enum class EdgeSum {
  kNone,
  kWithIds,    // hashes of (edge id, source, destination, time, weight)
  kAsymmetry,  // hash of each edge less that of its reverse: 0 if all edges run both ways
};

struct ListFindings {
  std::atomic<bool> sound = true;  // ids in range, lists sorted: safe to follow
  std::atomic<std::uint64_t> sum = 0;
};

/// Checks the sections of a direction against their checksums and rules, block by block, in
/// parallel. `offsets_are_sound` says whether the offsets may be followed.
void verify_lists(const Graph& graph, const ListColumns& lists, bool offsets_are_sound, EdgeSum sum,
                  Verifier& verifier, ListFindings& findings);

}  // namespace graphmount
