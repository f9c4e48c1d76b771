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

}  // namespace

TEST(each_layer_but_the_first_is_turned_round) {
  const HopEdges edges{kStarts, kSources, kNodes, kEdges};
  Ids out(turned_size(edges));
  turn_hops(edges, out);
  std::size_t done = 0;
  for (const std::size_t hops : {2, 1}) {
    const std::size_t targets = hops == 2 ? 4 : 2, sources = hops == 2 ? 5 : 4;
    const std::size_t entries = hops == 2 ? 6 : 3;
    const std::span<const std::int64_t> all_starts(kStarts), all_sources(kSources);
    const EdgeLists lists(all_starts.first(targets + 1), all_sources.first(entries), sources);
    Ids starts(sources + 1), owners(entries), places(entries);
    turn_round(lists, starts, owners, places);
    Ids wanted{std::bit_cast<std::int64_t>(fingerprint(lists))};
    for (const Ids* part : {&starts, &owners, &places})
      wanted.insert(wanted.end(), part->begin(), part->end());
    CHECK(Ids(out.begin() + static_cast<std::ptrdiff_t>(done),
              out.begin() + static_cast<std::ptrdiff_t>(done + wanted.size())) == wanted);
    done += wanted.size();
  }
  CHECK(done == out.size());
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
  CHECK(turned_size({kStarts, kSources, one, edges}) == 0);
  CHECK_THROWS(turned_size({kStarts, kSources, one, kEdges}), std::invalid_argument);
  const Ids many{2, 2, 1, 1}, too_many{3, 30, 1};
  const HopEdges wrong{kStarts, kSources, many, too_many};
  Ids out(turned_size(wrong));
  CHECK_THROWS(turn_hops(wrong, out), std::invalid_argument);
  CHECK_THROWS(turn_hops(wrong, std::span(out).first(1)), std::invalid_argument);
}
