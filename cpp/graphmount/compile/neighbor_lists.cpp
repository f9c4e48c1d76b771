#include "graphmount/compile/neighbor_lists.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "graphmount/base/digit_sort.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kLargestRadixSort = 1 << 20;

// What is sorted. The key holds the owner of the list, counted from the beginning of its bucket,
// above the neighbor.
constexpr int kNeighborBits = 48;
constexpr std::uint64_t kNeighborMask = (std::uint64_t{1} << kNeighborBits) - 1;

int num_bits(std::uint64_t value) {
  return static_cast<int>(std::bit_width(value));
}

struct Entry {
  std::uint64_t key;
  std::uint64_t neighbor() const { return key & kNeighborMask; }
  std::uint64_t owner() const { return key >> kNeighborBits; }
};

struct EntryWithRow : Entry {
  std::int64_t row;
};

struct FullEntry : EntryWithRow {
  std::int64_t time;
  float weight;
};

// Nodes are cut into ranges of equal width, each with a bucket of the entries of its lists. A
// bucket is meant to fit into a processor's own cache, where sorting it is fast.
class Buckets {
 public:
  Buckets() = default;
  Buckets(std::uint64_t first_node, std::uint64_t num_nodes, std::uint64_t num_entries)
      : first_node_(first_node) {
    constexpr std::uint64_t kEntries = 1 << 15;
    const std::uint64_t nodes = num_nodes * kEntries / std::max<std::uint64_t>(num_entries, 1);
    width_bits_ = std::clamp(num_bits(nodes), 6, 64 - kNeighborBits);
    count_ = (num_nodes >> width_bits_) + 1;
  }
  std::size_t count() const { return static_cast<std::size_t>(count_); }
  std::uint64_t width() const { return std::uint64_t{1} << width_bits_; }
  std::size_t of(std::uint64_t node) const {
    return static_cast<std::size_t>((node - first_node_) >> width_bits_);
  }
  std::uint64_t key(std::uint64_t owner, std::uint64_t neighbor) const {
    return ((owner - first_node_) & (width() - 1)) << kNeighborBits | neighbor;
  }

 private:
  std::uint64_t first_node_ = 0;
  int width_bits_ = 0;
  std::uint64_t count_ = 0;
};

template <class EntryType, class Index>
class Builder final : public ListBuilder {
 public:
  explicit Builder(const ListOptions& options) : options_(options) {}

  NeighborLists build(std::uint64_t first_node, std::uint64_t end_node,
                      std::span<const EdgePiece> pieces) override {
    first_node_ = first_node;
    const auto num_nodes = static_cast<std::size_t>(end_node - first_node);
    std::uint64_t num_entries = 0;
    for (const EdgePiece& piece : pieces) num_entries += piece.count;
    buckets_ = Buckets(first_node, num_nodes, num_entries);
    partition(pieces);
    offsets_.resize(num_nodes + 1);
    std::fill_n(offsets_.data(), num_nodes + 1, 0);
    indices_.resize(entries_.size());
    if (options_.parts.rows) rows_.resize(entries_.size());
    if (options_.parts.weights) weights_.resize(entries_.size());
    if (options_.parts.times) times_.resize(entries_.size());
    std::vector<std::size_t> lengths(buckets_.count());
    parallel_each(buckets_.count(), 1,
                  [&](std::size_t bucket) { lengths[bucket] = finish_bucket(bucket); });
    for (std::size_t node = 0; node < num_nodes; ++node) offsets_[node + 1] += offsets_[node];
    close_gaps(lengths);
    if (options_.dedup == Dedup::kSumWeights) check_sums();
    return lists();
  }

 private:
  static constexpr bool kHasRows = !std::is_same_v<EntryType, Entry>;
  static constexpr bool kIsFull = std::is_same_v<EntryType, FullEntry>;

  // A stretch of a piece: what one thread moves at a time.
  struct Stretch {
    const EdgePiece* piece;
    std::size_t begin, end;
  };

  // Moves every entry into its bucket, in their order: each stretch is counted first, so that it
  // knows where in each bucket its entries belong.
  void partition(std::span<const EdgePiece> pieces) {
    constexpr std::size_t kLongest = 1 << 19;
    std::vector<Stretch> stretches;
    for (const EdgePiece& piece : pieces)
      for (std::size_t begin = 0; begin < piece.count; begin += kLongest)
        stretches.push_back({&piece, begin, std::min(piece.count, begin + kLongest)});
    // Small pieces share a row of counters.
    std::vector<std::size_t> groups = {0};
    for (std::size_t i = 0, entries = 0; i < stretches.size(); ++i) {
      entries += stretches[i].end - stretches[i].begin;
      if (entries >= kLongest / 2 || i + 1 == stretches.size()) {
        groups.push_back(i + 1);
        entries = 0;
      }
    }
    const std::size_t num_groups = groups.size() - 1;
    std::vector<std::vector<std::size_t>> places(num_groups,
                                                 std::vector<std::size_t>(buckets_.count(), 0));
    const auto for_each_entry = [&](std::size_t group, const auto& use) {
      for (std::size_t i = groups[group]; i < groups[group + 1]; ++i)
        stretches[i].piece->for_each(stretches[i].begin, stretches[i].end, use);
    };
    parallel_each(num_groups, 1, [&](std::size_t i) {
      for_each_entry(i, [&, &counts = places[i]](const ListEntry& entry) {
        ++counts[buckets_.of(entry.owner)];
      });
    });
    std::size_t total = 0;
    begins_.clear();
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
      begins_.push_back(total);
      for (auto& counts : places) total += std::exchange(counts[bucket], total);
    }
    begins_.push_back(total);
    entries_.resize(total);
    parallel_each(num_groups, 1, [&](std::size_t i) {
      for_each_entry(i, [&, &next = places[i]](const ListEntry& from) {
        EntryType& entry = entries_[next[buckets_.of(from.owner)]++];
        entry.key = buckets_.key(from.owner, from.neighbor);
        if constexpr (kHasRows) entry.row = static_cast<std::int64_t>(from.row);
        if constexpr (kIsFull) {
          entry.time = from.time;
          entry.weight = from.weight;
        }
      });
    });
  }

  // Sorts the entries of a bucket and writes its lists; returns how many entries they have.
  std::size_t finish_bucket(std::size_t bucket) {
    const std::span<EntryType> entries =
        entries_.span().subspan(begins_[bucket], begins_[bucket + 1] - begins_[bucket]);
    if (entries.empty()) return 0;
    sort_entries(entries);
    std::size_t place = begins_[bucket];
    for (std::size_t first = 0; first < entries.size();) {
      std::size_t last = first + 1;
      while (last < entries.size() && entries[last].owner() == entries[first].owner()) ++last;
      const std::size_t node = bucket * buckets_.width() + entries[first].owner();
      const std::size_t length = write_list(entries.subspan(first, last - first), place);
      offsets_[node + 1] = static_cast<std::int64_t>(length);
      place += length;
      first = last;
    }
    return place - begins_[bucket];
  }

  // By owner and neighbor: digit by digit from the lowest, each pass keeping the order of the one
  // before it.
  void sort_entries(std::span<EntryType> entries) {
    if (entries.size() > kLargestRadixSort) {  // a hub's: without the memory for a second copy
      // Entries that are alike in all they have may change places. The others keep to the order of
      // their rows, or, having none, go the long way.
      if constexpr (!kHasRows)
        return std::sort(entries.begin(), entries.end(),
                         [](const auto& a, const auto& b) { return a.key < b.key; });
      else if (options_.parts.rows)
        return std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
          return a.key != b.key ? a.key < b.key : a.row < b.row;
        });
    }
    thread_local std::vector<EntryType> scratch;
    thread_local std::vector<std::uint32_t> begins;
    if (scratch.size() < entries.size()) scratch.resize(entries.size());
    std::span<EntryType> from = entries, to = std::span(scratch).first(entries.size());
    const auto sort_by = [&](int shift, int bits) {
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      sort_by_digit(
          from.size(), static_cast<std::size_t>(mask) + 1, begins,
          [=](std::size_t i) { return (from[i].key >> shift) & mask; },
          [=](std::size_t i, std::size_t place) { to[place] = from[i]; });
      std::swap(from, to);
    };
    const int neighbor_bits = std::max(1, num_bits(options_.largest_neighbor));
    constexpr int kDigitBits = 11;
    for (int shift = 0; shift < neighbor_bits; shift += kDigitBits)
      sort_by(shift, std::min(kDigitBits, neighbor_bits - shift));
    const int owner_bits = num_bits(buckets_.width() - 1);
    for (int shift = 0; shift < owner_bits; shift += kDigitBits)
      sort_by(kNeighborBits + shift, std::min(kDigitBits, owner_bits - shift));
    if (from.data() != entries.data()) std::copy(from.begin(), from.end(), entries.begin());
    if (scratch.size() > kLargestRadixSort) scratch = {};
  }

  // One list, without what dedup removes; returns its length.
  std::size_t write_list(std::span<EntryType> list, std::size_t place) {
    if constexpr (kIsFull) {
      if (options_.parts.times)
        std::stable_sort(list.begin(), list.end(),
                         [](const auto& a, const auto& b) { return a.time < b.time; });
    }
    std::size_t length = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (options_.dedup != Dedup::kKeepAll && i > 0 && repeats(list[i], list[i - 1])) {
        if constexpr (kIsFull) {
          if (options_.dedup == Dedup::kSumWeights) weights_[place + length - 1] += list[i].weight;
        }
        continue;
      }
      indices_[place + length] = static_cast<Index>(list[i].neighbor());
      if constexpr (kHasRows) {
        if (options_.parts.rows) rows_[place + length] = list[i].row;
      }
      if constexpr (kIsFull) {
        if (options_.parts.weights) weights_[place + length] = list[i].weight;
        if (options_.parts.times) times_[place + length] = list[i].time;
      }
      ++length;
    }
    return length;
  }

  static bool repeats(const EntryType& entry, const EntryType& before) {
    if constexpr (kIsFull) {
      if (entry.time != before.time) return false;
    }
    return entry.neighbor() == before.neighbor();
  }

  // Dedup leaves room behind the lists of each bucket, whose lengths these are.
  void close_gaps(const std::vector<std::size_t>& lengths) {
    const auto close = [&](auto& values) {
      if (values.empty()) return;
      std::size_t total = 0;
      for (std::size_t bucket = 0; bucket < lengths.size(); ++bucket) {
        if (begins_[bucket] != total)
          std::copy_n(values.data() + begins_[bucket], lengths[bucket], values.data() + total);
        total += lengths[bucket];
      }
      values.shrink(total);
    };
    close(indices_);
    close(rows_);
    close(weights_);
    close(times_);
  }

  void check_sums() const {
    const float* end = weights_.data() + weights_.size();
    const float* heavy =
        std::find_if(weights_.data(), end, [](float weight) { return !std::isfinite(weight); });
    if (heavy == end) return;
    const auto place = static_cast<std::int64_t>(heavy - weights_.data());
    const auto offsets = offsets_.span();
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), place);
    const auto node = first_node_ + static_cast<std::uint64_t>(after - offsets.begin()) - 1;
    throw SourceError(say("the weights of the edges between nodes ",
                          indices_[static_cast<std::size_t>(place)], " and ", node,
                          " add up to more than float32 can hold"));
  }

  NeighborLists lists() const {
    NeighborLists lists{.first_node = first_node_, .offsets = offsets_.span()};
    if constexpr (std::is_same_v<Index, std::int32_t>)
      lists.narrow_indices = indices_.span();
    else
      lists.wide_indices = indices_.span();
    if (options_.parts.rows) lists.rows = rows_.span();
    if (options_.parts.weights) lists.weights = weights_.span();
    if (options_.parts.times) lists.times = times_.span();
    return lists;
  }

  const ListOptions options_;
  std::uint64_t first_node_ = 0;
  Buckets buckets_;
  std::vector<std::size_t> begins_;  // of the buckets, and the end of the last
  // These are kept from one range of nodes to the next, so that memory is asked for only once.
  Buffer<EntryType> entries_;
  Buffer<std::int64_t> offsets_;
  Buffer<Index> indices_;
  Buffer<std::int64_t> rows_;
  Buffer<float> weights_;
  Buffer<std::int64_t> times_;
};

template <class Index>
std::unique_ptr<ListBuilder> make_builder(const ListOptions& options) {
  if (options.parts.weights || options.parts.times)
    return std::make_unique<Builder<FullEntry, Index>>(options);
  if (options.parts.rows) return std::make_unique<Builder<EntryWithRow, Index>>(options);
  return std::make_unique<Builder<Entry, Index>>(options);
}

}  // namespace

std::unique_ptr<ListBuilder> make_list_builder(const ListOptions& options) {
  return options.wide_indices ? make_builder<std::int64_t>(options)
                              : make_builder<std::int32_t>(options);
}

std::uint64_t list_bytes_per_entry(const ListOptions& options) {
  const EntryParts& parts = options.parts;
  const bool is_full = parts.weights || parts.times;  // sorted with a second copy, if need be
  const std::uint64_t sorted = is_full      ? 2 * sizeof(FullEntry)
                               : parts.rows ? sizeof(EntryWithRow)
                                            : sizeof(Entry);
  return sorted + (options.wide_indices ? 8 : 4) + (parts.rows ? 8 : 0) + (parts.weights ? 4 : 0) +
         (parts.times ? 8 : 0);
}

}  // namespace graphmount
