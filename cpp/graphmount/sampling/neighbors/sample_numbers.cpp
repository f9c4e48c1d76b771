#include "graphmount/sampling/neighbors/sample_numbers.hpp"

namespace graphmount {

void SampleNumbers::begin_hop(std::uint64_t next, std::size_t num_items, std::size_t num_chunks) {
  next_ = next;
  num_new_ = 0;
  new_items_.resize(num_items);
  chunks_.resize(num_chunks);
  turns_.begin(num_chunks);
}

void SampleNumbers::write(const std::int64_t* targets, const std::int64_t* target_trees,
                          std::int64_t* nodes, std::int64_t* trees) const {
  for (std::size_t i = 0; i < num_new_; ++i) {
    nodes[next_ + i] = new_items_[i].node;
    if (trees != nullptr) trees[next_ + i] = target_trees[targets[new_items_[i].item]];
  }
}

}  // namespace graphmount
