#include "graphmount/neighbor_lists.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "graphmount/error.hpp"
#include "graphmount/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::int64_t kEdgeGrain = 1 << 16;
constexpr std::size_t kLargestRadixSort = 1 << 20;

// A list entry on its way to its place. The key holds the owner of the list, counted from the
// beginning of its bucket, above the neighbor.
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

// For lists that keep the row, or something that is looked up by it.
struct EntryWithRow : Entry {
  std::int64_t row;
};

// Nodes are cut into ranges of equal width, each with a bucket of the entries of its lists. A
// bucket is meant to fit into a processor's own cache, where sorting it is fast.
class Buckets {
 public:
  Buckets(std::uint64_t num_nodes, std::uint64_t num_entries) {
    constexpr std::uint64_t kEntries = 1 << 15;
    const std::uint64_t nodes = num_nodes * kEntries / std::max<std::uint64_t>(num_entries, 1);
    width_bits_ = std::clamp(num_bits(nodes), 6, 64 - kNeighborBits);
    count_ = (num_nodes >> width_bits_) + 1;
  }
  std::size_t count() const { return static_cast<std::size_t>(count_); }
  std::uint64_t width() const { return std::uint64_t{1} << width_bits_; }
  std::size_t of(NodeId node) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(node) >> width_bits_);
  }
  std::uint64_t key(NodeId owner, NodeId neighbor) const {
    return (static_cast<std::uint64_t>(owner) & (width() - 1)) << kNeighborBits |
           static_cast<std::uint64_t>(neighbor);
  }

 private:
  int width_bits_ = 0;
  std::uint64_t count_ = 0;
};

// Where entries come from: each calls add(owner, neighbor, row) for those of the rows [begin, end).
// Weights and times are looked up by row.
struct ColumnSource {
  const EdgeColumns& edges;
  Direction direction;
  const ListOptions& options;

  std::uint64_t num_rows() const { return edges.size(); }
  std::uint64_t most_entries() const { return edges.size() * (options.undirected ? 2 : 1); }
  const auto& weights() const { return edges.weights; }
  const auto& times() const { return edges.times; }

  template <class Add>
  void for_each(std::int64_t begin, std::int64_t end, const Add& add) const {
    const auto& owners = direction == Direction::kIn ? edges.dst : edges.src;
    const auto& others = direction == Direction::kIn ? edges.src : edges.dst;
    for (std::int64_t row = begin; row < end; ++row) {
      const NodeId owner = owners[static_cast<std::size_t>(row)];
      const NodeId other = others[static_cast<std::size_t>(row)];
      if (owner == other && options.drop_self_loops) continue;
      add(owner, other, row);
      // The other half of an undirected edge; a loop has only one.
      if (options.undirected && owner != other) add(other, owner, row);
    }
  }
};

// The entries of lists, turned round: what owned them becomes the neighbor.
struct ListSource {
  const NeighborLists& lists;

  std::uint64_t num_rows() const { return lists.neighbors.size(); }
  std::uint64_t most_entries() const { return num_rows(); }
  std::optional<std::span<const float>> weights() const {
    if (lists.weights.empty()) return std::nullopt;
    return lists.weights;
  }
  std::optional<std::span<const std::int64_t>> times() const {
    if (lists.times.empty()) return std::nullopt;
    return lists.times;
  }

  template <class Add>
  void for_each(std::int64_t begin, std::int64_t end, const Add& add) const {
    const auto after = std::upper_bound(lists.indptr.begin(), lists.indptr.end(), begin);
    NodeId owner = static_cast<NodeId>(after - lists.indptr.begin()) - 1;
    for (std::int64_t row = begin; row < end; ++row) {
      while (lists.indptr[static_cast<std::size_t>(owner) + 1] <= row) ++owner;
      add(lists.neighbors[static_cast<std::size_t>(row)], owner, row);
    }
  }
};

template <class EntryType, class Source>
class ListBuilder {
 public:
  ListBuilder(const Source& source, const ListOptions& options)
      : source_(source),
        options_(options),
        weights_(source.weights()),
        times_(source.times()),
        buckets_(options.num_nodes, source.most_entries()) {}

  NeighborLists run() {
    partition();
    const auto num_nodes = static_cast<std::size_t>(options_.num_nodes);
    lists_.indptr.assign(num_nodes + 1, 0);
    resize_lists(entries_.size());
    std::vector<std::size_t> lengths(buckets_.count());
    parallel_for(static_cast<std::int64_t>(buckets_.count()), 1,
                 [&](std::int64_t bucket, std::int64_t) {
                   const auto index = static_cast<std::size_t>(bucket);
                   lengths[index] = finish_bucket(index);
                 });
    entries_ = {};
    for (std::size_t node = 0; node < num_nodes; ++node)
      lists_.indptr[node + 1] += lists_.indptr[node];
    close_gaps(lengths);
    return std::move(lists_);
  }

 private:
  static constexpr bool kHasRows = std::is_same_v<EntryType, EntryWithRow>;

  // Moves every entry into its bucket, in the order of the rows: each part of the rows is counted
  // first, so that it knows where in each bucket its entries belong.
  void partition() {
    const auto num_rows = static_cast<std::int64_t>(source_.num_rows());
    const std::int64_t grain = balanced_grain(num_rows, kEdgeGrain);
    const auto num_parts = static_cast<std::size_t>((num_rows + grain - 1) / grain);
    std::vector<std::vector<std::size_t>> places(num_parts,
                                                 std::vector<std::size_t>(buckets_.count(), 0));
    parallel_for(num_rows, grain, [&](std::int64_t begin, std::int64_t end) {
      auto& counts = places[static_cast<std::size_t>(begin / grain)];
      source_.for_each(begin, end,
                       [&](NodeId owner, NodeId, std::int64_t) { ++counts[buckets_.of(owner)]; });
    });
    std::size_t total = 0;
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
      begins_.push_back(total);
      for (auto& counts : places) total += std::exchange(counts[bucket], total);
    }
    begins_.push_back(total);
    entries_.resize(total);
    parallel_for(num_rows, grain, [&](std::int64_t begin, std::int64_t end) {
      auto& next = places[static_cast<std::size_t>(begin / grain)];
      source_.for_each(begin, end, [&](NodeId owner, NodeId neighbor, std::int64_t row) {
        EntryType& entry = entries_[next[buckets_.of(owner)]++];
        entry.key = buckets_.key(owner, neighbor);
        if constexpr (kHasRows) entry.row = row;
      });
    });
  }

  // Sorts the entries of a bucket and writes its lists; returns how many entries they have.
  std::size_t finish_bucket(std::size_t bucket) {
    const std::span<EntryType> entries =
        std::span(entries_).subspan(begins_[bucket], begins_[bucket + 1] - begins_[bucket]);
    if (entries.empty()) return 0;
    sort_entries(entries);
    std::size_t place = begins_[bucket];
    for (std::size_t first = 0; first < entries.size();) {
      std::size_t last = first + 1;
      while (last < entries.size() && entries[last].owner() == entries[first].owner()) ++last;
      const std::size_t node = bucket * buckets_.width() + entries[first].owner();
      const std::size_t length = write_list(entries.subspan(first, last - first), place);
      lists_.indptr[node + 1] = static_cast<std::int64_t>(length);
      place += length;
      first = last;
    }
    return place - begins_[bucket];
  }

  // By owner, neighbor and row: digit by digit from the lowest, each pass keeping the order of the
  // one before it; rows are in order to begin with.
  void sort_entries(std::span<EntryType> entries) {
    constexpr int kDigitBits = 11;
    constexpr std::size_t kDigits = 1 << kDigitBits;
    if (entries.size() > kLargestRadixSort) {  // a hub's: without the memory for a second copy
      return std::sort(entries.begin(), entries.end(), [](const EntryType& a, const EntryType& b) {
        if constexpr (kHasRows)
          return a.key != b.key ? a.key < b.key : a.row < b.row;
        else
          return a.key < b.key;
      });
    }
    const int neighbor_bits = num_bits(options_.num_nodes);
    std::vector<EntryType> scratch(entries.size());
    std::span<EntryType> from = entries, to = scratch;
    const auto sort_by = [&](int shift, int bits) {
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      std::vector<std::size_t> next(std::max(kDigits, static_cast<std::size_t>(mask) + 1), 0);
      for (const EntryType& entry : from) ++next[(entry.key >> shift) & mask];
      std::size_t total = 0;
      for (std::size_t& place : next) total += std::exchange(place, total);
      for (const EntryType& entry : from) to[next[(entry.key >> shift) & mask]++] = entry;
      std::swap(from, to);
    };
    for (int shift = 0; shift < neighbor_bits; shift += kDigitBits)
      sort_by(shift, std::min(kDigitBits, neighbor_bits - shift));
    sort_by(kNeighborBits, num_bits(buckets_.width() - 1));
    if (from.data() != entries.data()) std::copy(from.begin(), from.end(), entries.begin());
  }

  // One list, without what dedup removes; returns its length.
  std::size_t write_list(std::span<EntryType> list, std::size_t place) {
    if constexpr (kHasRows) {
      if (times_)
        std::stable_sort(list.begin(), list.end(),
                         [&](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
    }
    std::size_t length = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool repeats = i > 0 && list[i].neighbor() == list[i - 1].neighbor() &&
                           time_of(list[i]) == time_of(list[i - 1]);
      if (repeats && options_.dedup != Dedup::kKeepAll) {
        if (options_.dedup == Dedup::kSumWeights)
          lists_.weights[place + length - 1] += weight_of(list[i]);
        continue;
      }
      lists_.neighbors[place + length] = static_cast<NodeId>(list[i].neighbor());
      if constexpr (kHasRows) {
        if (options_.keep_rows) lists_.rows[place + length] = list[i].row;
        if (weights_) lists_.weights[place + length] = weight_of(list[i]);
        if (times_) lists_.times[place + length] = time_of(list[i]);
      }
      ++length;
    }
    return length;
  }

  std::int64_t time_of(const EntryType& entry) const {
    if constexpr (kHasRows)
      return times_ ? (*times_)[static_cast<std::size_t>(entry.row)] : 0;
    else
      return 0;
  }
  float weight_of(const EntryType& entry) const {
    if constexpr (kHasRows)
      return (*weights_)[static_cast<std::size_t>(entry.row)];
    else
      return 0.0F;
  }

  // Dedup leaves room behind the lists of each bucket, whose lengths these are.
  void close_gaps(const std::vector<std::size_t>& lengths) {
    std::size_t total = 0;
    const auto move_down = [&](auto& values, std::size_t bucket) {
      if (values.empty() || begins_[bucket] == total) return;
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(begins_[bucket]);
      std::copy_n(from, lengths[bucket], values.begin() + static_cast<std::ptrdiff_t>(total));
    };
    for (std::size_t bucket = 0; bucket < lengths.size(); ++bucket) {
      move_down(lists_.neighbors, bucket);
      move_down(lists_.rows, bucket);
      move_down(lists_.weights, bucket);
      move_down(lists_.times, bucket);
      total += lengths[bucket];
    }
    resize_lists(total);
    const auto heavy = std::find_if(lists_.weights.begin(), lists_.weights.end(),
                                    [](float weight) { return !std::isfinite(weight); });
    if (heavy != lists_.weights.end()) {
      const auto place = static_cast<std::size_t>(heavy - lists_.weights.begin());
      const std::string which =
          options_.keep_rows ? "edge " + std::to_string(lists_.rows[place]) : "each other";
      throw SourceError("the weights of the edges that repeat " + which +
                        " add up to more than float32 can hold");
    }
  }

  void resize_lists(std::size_t size) {
    lists_.neighbors.resize(size);
    if (options_.keep_rows) lists_.rows.resize(size);
    if (weights_) lists_.weights.resize(size);
    if (times_) lists_.times.resize(size);
  }

  const Source& source_;
  const ListOptions& options_;
  const std::optional<std::span<const float>> weights_;
  const std::optional<std::span<const std::int64_t>> times_;
  Buckets buckets_;
  std::vector<std::size_t> begins_;  // of the buckets, and the end of the last
  std::vector<EntryType> entries_;
  NeighborLists lists_;
};

}  // namespace

NeighborLists build_lists(const EdgeColumns& edges, Direction direction,
                          const ListOptions& options) {
  const ColumnSource source{edges, direction, options};
  if (options.keep_rows || edges.weights || edges.times)
    return ListBuilder<EntryWithRow, ColumnSource>(source, options).run();
  return ListBuilder<Entry, ColumnSource>(source, options).run();
}

NeighborLists reverse_lists(const NeighborLists& lists) {
  const ListOptions options{.num_nodes = lists.indptr.size() - 1};
  return ListBuilder<EntryWithRow, ListSource>({lists}, options).run();
}

}  // namespace graphmount
