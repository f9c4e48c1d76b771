#include "graphmount/sampling/neighbors/sample_numbers.hpp"

#include <utility>

#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::int64_t kGrain = 1 << 14;

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
  constexpr std::int64_t kPartitions = NodeNumbering::kPartitions;
  const std::int64_t grain = num_items_ < static_cast<std::size_t>(kGrain) ? kPartitions : 2;
  parallel_for(kPartitions, grain, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = static_cast<std::size_t>(begin); p < static_cast<std::size_t>(end); ++p) {
      for (const Chunk& chunk : chunks_) {
        std::size_t start = chunk.begin;
        for (std::size_t other = 0; other < p; ++other) start += chunk.counts[other];
        numbering_.number(p, {entries_.data() + start, chunk.counts[p]}, first_.data());
      }
    }
  });
  const auto count = static_cast<std::int64_t>(num_items_);
  new_nodes_.assign(static_cast<std::size_t>((count + kGrain - 1) / kGrain), 0);
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t sum = 0;
    const std::size_t last = first_item_ + static_cast<std::size_t>(end);
    for (std::size_t item = first_item_ + static_cast<std::size_t>(begin); item < last; ++item)
      sum += first_[item] == item ? 1 : 0;
    new_nodes_[static_cast<std::size_t>(begin / kGrain)] = sum;
  });
  std::uint64_t sum = 0;
  for (std::uint64_t& range : new_nodes_) sum += std::exchange(range, sum);
  return sum;
}

void SampleNumbers::write(std::uint64_t next, std::int64_t* neighbors, const std::int64_t* targets,
                          std::int64_t* nodes, std::int64_t* batch) {
  const auto count = static_cast<std::int64_t>(num_items_);
  const std::uint32_t* const first = first_.data() + first_item_;
  std::uint32_t* const number = number_.data() + first_item_;
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t mine = next + new_nodes_[static_cast<std::size_t>(begin / kGrain)];
    for (std::int64_t i = begin; i < end; ++i) {
      if (first[i] != first_item_ + static_cast<std::size_t>(i)) continue;
      number[i] = static_cast<std::uint32_t>(mine);
      nodes[mine] = neighbors[i];
      if (batch != nullptr) batch[mine] = batch[targets[i]];
      ++mine;
    }
  });
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) neighbors[i] = number_[first[i]];
  });
}

}  // namespace graphmount
