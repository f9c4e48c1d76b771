#include "graphmount/loading/seed_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "graphmount/base/error.hpp"

namespace graphmount {

BatchCut::BatchCut(std::uint64_t num_inputs, std::uint64_t batch_size)
    : batch_size_(batch_size), num_batches_(0) {
  if (batch_size == 0) throw std::invalid_argument("batch_size must be at least 1");
  num_batches_ = num_inputs / batch_size + (num_inputs % batch_size == 0 ? 0 : 1);
}

std::span<const std::int64_t> BatchCut::part(std::span<const std::int64_t> inputs,
                                             std::uint64_t batch) const {
  if (batch >= num_batches_)
    throw std::out_of_range(say("there is no batch ", batch, " of ", num_batches_));
  const std::size_t begin = batch * batch_size_;
  return inputs.subspan(begin, std::min<std::size_t>(batch_size_, inputs.size() - begin));
}

NodeSeeds::NodeSeeds(std::vector<NodeId> nodes, std::vector<std::int64_t> times,
                     std::uint64_t batch_size, std::size_t type)
    : nodes_(std::move(nodes)),
      times_(std::move(times)),
      cut_(nodes_.size(), batch_size),
      type_(type) {
  if (!times_.empty() && times_.size() != nodes_.size())
    throw std::invalid_argument(say("there are ", times_.size(), " times for ", nodes_.size(),
                                    " seeds; give one for each seed"));
}

BatchSeeds NodeSeeds::seeds_of(std::uint64_t batch, RandomKey, Places) const {
  const auto nodes = cut_.part(nodes_, batch);
  BatchSeeds seeds{.nodes = {nodes.begin(), nodes.end()}, .times = {}, .ends = {}, .type = type_};
  if (!times_.empty()) {
    const auto times = cut_.part(times_, batch);
    seeds.times.assign(times.begin(), times.end());
  }
  return seeds;
}

}  // namespace graphmount
