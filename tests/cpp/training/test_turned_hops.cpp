// The edges of all layers but the first by their source, against turn_round layer by layer.
#include <bit>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphmount/training/edge_lists.hpp"
#include "graphmount/training/turned_hops.hpp"

using namespace graphmount;

namespace {

using Ids = std::vector<std::int64_t>;

// Seeds 0 and 1; a first hop with nodes 2 and 3, a second with 4, a third with 5.
const Ids kStarts{0, 2, 3, 4, 6, 7}, kSources{2, 3, 2, 4, 1, 2, 5};
const Ids kNodes{2, 2, 1, 1}, kEdges{3, 3, 1};

/// What turn_round makes of the first edges, from the lists of the first targets.
Ids turned_by_itself(std::span<const std::int64_t> starts, std::span<const std::int64_t> sources,
                     std::size_t num_targets, std::size_t num_sources, std::size_t num_edges) {
  const EdgeLists lists(starts.first(num_targets + 1), sources.first(num_edges), num_sources);
  Ids by_source(num_sources + 1), owners(num_edges), places(num_edges);
  turn_round(lists, by_source, owners, places);
  Ids made{std::bit_cast<std::int64_t>(fingerprint(lists))};
  for (const Ids* part : {&by_source, &owners, &places})
    made.insert(made.end(), part->begin(), part->end());
  return made;
}

}  // namespace

TEST(each_layer_but_the_first_is_turned_round) {
  const HopEdges edges{kStarts, kSources, kNodes, kNodes, kEdges};
  Ids out(turned_size(edges));
  turn_hops(edges, out);
  Ids wanted = turned_by_itself(kStarts, kSources, 4, 5, 6);
  const Ids last = turned_by_itself(kStarts, kSources, 2, 4, 3);
  wanted.insert(wanted.end(), last.begin(), last.end());
  CHECK_EQUAL(out, wanted);
}

TEST(sources_of_another_type_are_numbered_by_themselves) {
  // Two targets, then one more; no source among the seeds, then five, then two.
  const Ids starts{0, 2, 5, 7}, sources{4, 0, 1, 2, 3, 6, 5}, targets{2, 1, 0}, others{0, 5, 2};
  const Ids num_edges{5, 2};
  const HopEdges edges{starts, sources, targets, others, num_edges};
  Ids out(turned_size(edges));
  turn_hops(edges, out);
  CHECK_EQUAL(out, turned_by_itself(starts, sources, 2, 5, 5));
  CHECK_THROWS(turned_size({starts, sources, targets, kNodes, num_edges}), std::invalid_argument);
  // A relation whose targets were not reached has no edges.
  const Ids none{0}, nobody{0, 0, 0}, no_edges{0, 0};
  const HopEdges empty{none, {}, nobody, others, no_edges};
  out.resize(turned_size(empty));
  turn_hops(empty, out);
  CHECK_EQUAL(out, turned_by_itself(none, {}, 0, 5, 0));
}

TEST(other_lists_have_another_fingerprint) {
  const Ids starts{0, 1, 2}, others{0, 1}, changed{1, 1}, shifted{0, 2, 2};
  const std::uint64_t mark = fingerprint({starts, others, 2});
  CHECK(mark == fingerprint({starts, others, 2}));
  CHECK(mark != fingerprint({starts, changed, 2}));
  CHECK(mark != fingerprint({shifted, others, 2}));
}

TEST(one_hop_has_nothing_to_turn_and_wrong_sizes_are_refused) {
  const Ids one{2, 2}, edges{3};
  CHECK(turned_size({kStarts, kSources, one, one, edges}) == 0);
  CHECK_THROWS(turned_size({kStarts, kSources, one, one, kEdges}), std::invalid_argument);
  const Ids many{2, 2, 1, 1}, too_many{3, 30, 1};
  const HopEdges wrong{kStarts, kSources, many, many, too_many};
  Ids out(turned_size(wrong));
  CHECK_THROWS(turn_hops(wrong, out), std::invalid_argument);
  CHECK_THROWS(turn_hops(wrong, std::span(out).first(1)), std::invalid_argument);
}
