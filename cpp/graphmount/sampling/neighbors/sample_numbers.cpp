#include "graphmount/sampling/neighbors/sample_numbers.hpp"

#include <utility>

#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kGrain = 1 << 14;

}  // namespace

void SampleNumbers::begin_hop(std::size_t num_items, std::size_t num_chunks) {
  first_item_ += num_items_;
  num_items_ = num_items;
  entries_.resize(num_items);
  first_.grow(first_item_ + num_items);
  number_.grow(first_item_ + num_items);
  chunks_.resize(num_chunks);
}

std::uint64_t SampleNumbers::find_new() {
  constexpr std::size_t kPartitions = NodeNumbering::kPartitions;
  parallel_each(kPartitions, num_items_ < kGrain ? kPartitions : 2, [&](std::size_t p) {
    for (const Chunk& chunk : chunks_) {
      std::size_t start = chunk.begin;
      for (std::size_t other = 0; other < p; ++other) start += chunk.counts[other];
      numbering_.number(p, {entries_.data() + start, chunk.counts[p]}, first_.data());
    }
  });
  new_nodes_.assign((num_items_ + kGrain - 1) / kGrain, 0);
  parallel_for(num_items_, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    for (std::size_t item = first_item_ + begin; item < first_item_ + end; ++item)
      sum += first_[item] == item ? 1 : 0;
    new_nodes_[begin / kGrain] = sum;
  });
  std::uint64_t sum = 0;
  for (std::uint64_t& range : new_nodes_) sum += std::exchange(range, sum);
  return sum;
}

void SampleNumbers::write(std::uint64_t next, std::int64_t* neighbors, const std::int64_t* targets,
                          std::int64_t* nodes, std::int64_t* batch) {
  const std::uint32_t* const first = first_.data() + first_item_;
  std::uint32_t* const number = number_.data() + first_item_;
  parallel_for(num_items_, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t mine = next + new_nodes_[begin / kGrain];
    for (std::size_t i = begin; i < end; ++i) {
      if (first[i] != first_item_ + i) continue;
      number[i] = static_cast<std::uint32_t>(mine);
      nodes[mine] = neighbors[i];
      if (batch != nullptr) batch[mine] = batch[targets[i]];
      ++mine;
    }
  });
  parallel_each(num_items_, kGrain, [&](std::size_t i) { neighbors[i] = number_[first[i]]; });
}

}  // namespace graphmount
