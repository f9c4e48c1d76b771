#include "graphmount/compile/parts/joined_graph.hpp"

#include <stdexcept>

#include "graphmount/base/error.hpp"
#include "graphmount/compile/parts/entry_cut.hpp"

namespace graphmount {

JoinedGraph::JoinedGraph(const std::filesystem::path& path, const GraphOptions& options,
                         const GraphCounts& counts, const ExternalIds& node_ids)
    : options_(options),
      counts_(counts),
      direction_(options.first_direction()),
      file_(path, options_, counts_, node_ids) {}

void JoinedGraph::append(const NeighborLists& lists) {
  require_lists(lists, counts_.neighbors(direction_));
  const std::uint64_t end = counts_.lists(direction_);
  if (lists.first_node != next_node_ || lists.num_nodes() > end - next_node_)
    throw std::invalid_argument(say("lists from node ", lists.first_node,
                                    " on are not the next ones, which begin with node ",
                                    next_node_));
  const bool is_second = direction_ == Direction::kOut && options_.has_second();
  const std::size_t count = static_cast<std::size_t>(lists.num_entries());
  const auto require = [&](std::size_t size, bool is_expected) {
    if (size != (is_expected ? count : 0))
      throw std::invalid_argument(say("lists of ", count, " neighbors have ", size, " values"));
  };
  require(lists.rows.size(), is_second || options_.keep_source_rows);
  require(lists.weights.size(), options_.has_weights);
  require(lists.times.size(), options_.has_times);
  file_.append(lists);
  next_node_ += lists.num_nodes();
}

void JoinedGraph::require_all() const {
  if (next_node_ != counts_.lists(direction_))
    throw std::invalid_argument(
        say("there are lists of ", next_node_, " of ", counts_.lists(direction_), " nodes"));
}

void JoinedGraph::begin_second() {
  require_all();
  if (!options_.has_second() || direction_ == Direction::kOut)
    throw std::invalid_argument("this graph has no second direction");
  direction_ = Direction::kOut;
  next_node_ = 0;
  file_.begin_lists(direction_);
}

std::uint64_t JoinedGraph::finish() {
  require_all();
  return file_.finish();
}

}  // namespace graphmount
