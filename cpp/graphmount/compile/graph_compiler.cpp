#include "graphmount/compile/graph_compiler.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/ids.hpp"

namespace graphmount {
namespace {

// How the budget is shared. Entries wait in the first spool while edges come in; then its buckets
// are sorted one by one, while the second spool fills.
std::uint64_t spool_share(std::uint64_t memory) {
  return memory / 2;
}
std::uint64_t bucket_share(std::uint64_t memory) {
  return memory / 8;
}

// How many times as large as a bucket a single list may be: it gets what is left of the budget.
constexpr std::uint64_t kListShare = 3;

// While a bucket is sorted, what was loaded of it is in memory as well.
std::uint64_t sorted_bytes_per_entry(const ListOptions& options) {
  const EntryParts& parts = options.parts;
  return list_bytes_per_entry(options) + sizeof(WidePair) +
         8 * (parts.rows + parts.weights + parts.times);
}

// More nodes than this are believed only of sources with as many edges, or if one says so.
constexpr std::uint64_t kPlausibleNodes = 1 << 24;
constexpr std::uint64_t kNodesPerEdge = 64;

// Entries on their way to other node ids.
class Renumbered {
 public:
  Renumbered(const EdgePiece& piece, const NewIds& new_owners, const NewIds& new_neighbors)
      : piece_(piece), new_owners_(new_owners), new_neighbors_(new_neighbors) {}

  std::uint64_t num_rows() const { return piece_.count; }
  std::uint64_t entries_per_row() const { return 1; }
  template <class Add>
  void for_each(std::size_t begin, std::size_t end, const Add& add) const {
    piece_.for_each(begin, end, [&](ListEntry entry) {
      entry.owner = new_id(new_owners_, entry.owner);
      entry.neighbor = new_id(new_neighbors_, entry.neighbor);
      add(entry);
    });
  }

 private:
  static std::uint64_t new_id(const NewIds& new_ids, std::uint64_t node) {
    return new_ids.empty() ? node : new_ids[static_cast<std::size_t>(node)];
  }

  const EdgePiece& piece_;
  const NewIds &new_owners_, &new_neighbors_;
};

}  // namespace

GraphCompiler::GraphCompiler(const GraphOptions& options)
    : options_(options),
      parts_{options.keep_source_rows, options.has_weights, options.has_times},
      spool_(std::make_unique<EdgeSpool>(
          parts_,
          std::min(spool_share(options.memory), options.waiting_memory.value_or(options.memory)),
          options.folder)) {
  if (!options.in_lists && !options.out_lists)
    throw std::invalid_argument("a graph needs lists in at least one direction");
  if (options.dedup == Dedup::kSumWeights && !options.has_weights)
    throw std::invalid_argument("dedup='sum' adds up weights, but no weights are given");
  for (const std::optional<std::uint64_t>& count : {options.num_nodes, options.num_sources})
    if (count.value_or(0) > kMaxNodes)
      throw std::invalid_argument(say(*count, " nodes are too many for any file"));
  if (options.rectangular && (options.undirected || options.drop_self_loops))
    throw std::invalid_argument(
        "edges from one node type to another have a direction, and are no loops: they can be "
        "neither undirected, nor dropped as loops");
  if (!options.rectangular && options.num_sources)
    throw std::invalid_argument("only sources of another node type have a number of their own");
}

void GraphCompiler::require_open() const {
  if (progress_ != nullptr) throw std::invalid_argument("the graph has been written already");
}

void GraphCompiler::add(const EdgeColumns& edges) {
  require_open();
  const auto require = [&](bool is_given, bool is_expected, const std::string& name) {
    if (is_given != is_expected)
      throw std::invalid_argument(name + (is_expected ? " are missing" : " were not expected"));
  };
  require(edges.weights.has_value(), options_.has_weights, "weights");
  require(edges.times.has_value(), options_.has_times, "timestamps");
  check_edges(edges, ends(), num_rows_);
  spool_->add(ColumnSource{edges, options_.first_direction(), options_.undirected,
                           options_.drop_self_loops, num_rows_, ends()});
  num_rows_ += edges.size();
  if (!options_.drop_self_loops) return;
  for (std::size_t row = 0; row < edges.src.size(); ++row) {
    const NodeId id = read_once(&edges.src[row]);
    if (id != edges.dst[row] || static_cast<std::uint64_t>(id) >= ends().num_sources) continue;
    largest_dropped_ = std::max(largest_dropped_, id);
  }
}

EdgeEnds GraphCompiler::ends() const {
  const auto& num_sources = options_.rectangular ? options_.num_sources : options_.num_nodes;
  return {num_sources.value_or(kMaxNodes), options_.num_nodes.value_or(kMaxNodes),
          options_.rectangular};
}

std::uint64_t GraphCompiler::num_sources() const {
  require_open();
  if (!options_.rectangular) return num_destinations();
  const bool is_in = options_.first_direction() == Direction::kIn;
  return options_.num_sources.value_or(is_in ? spool_->end_neighbor() : spool_->end_owner());
}

std::uint64_t GraphCompiler::num_destinations() const {
  require_open();
  if (options_.num_nodes) return *options_.num_nodes;
  if (options_.rectangular)
    return options_.first_direction() == Direction::kIn ? spool_->end_owner()
                                                        : spool_->end_neighbor();
  return std::max({spool_->end_owner(), spool_->end_neighbor(),
                   static_cast<std::uint64_t>(largest_dropped_ + 1)});
}

void GraphCompiler::require_plausible(std::uint64_t count, bool is_given) const {
  if (!is_given && count > kPlausibleNodes && count / kNodesPerEdge > num_rows_)
    throw SourceError(say("node id ", count - 1, " would make a graph of ", count, " nodes for ",
                          num_rows_, (num_rows_ == 1 ? " edge" : " edges"),
                          "; pass num_nodes= if there are so many, or ids='map' to number only "
                          "the ids that occur"));
}

// Offsets alone can be too many for the disk, which is better said before all else is done.
void GraphCompiler::require_space(const std::filesystem::path& path) const {
  std::error_code unknown;
  const auto space = std::filesystem::space(path.parent_path(), unknown);
  std::uint64_t num_lists = counts_.lists(options_.first_direction());
  if (options_.rectangular && options_.has_second()) num_lists += counts_.lists(Direction::kOut);
  if (!unknown && num_lists * sizeof(std::int64_t) > space.available)
    throw IoError(path.string(),
                  say("cannot reserve ", num_lists * sizeof(std::int64_t),
                      " bytes for the offsets of ", num_lists, " nodes"),
                  ENOSPC);
}

ListOptions GraphCompiler::list_options(EntryParts parts, Direction direction) const {
  const std::uint64_t num_neighbors = counts_.neighbors(direction);
  return {.parts = parts,
          .wide_indices = options_.wide_indices || num_neighbors > (std::uint64_t{1} << 31),
          .largest_neighbor = num_neighbors == 0 ? 0 : num_neighbors - 1};
}

void GraphCompiler::advance(std::uint64_t entries) {
  done_ += entries;
  if (*progress_) (*progress_)(std::min(done_, total_), total_);
}

// For both directions: otherwise a user who has made room for the first would then be asked for
// more for the second.
std::string GraphCompiler::advise_memory(const ListOptions& options, std::uint64_t entries) const {
  std::uint64_t bytes = sorted_bytes_per_entry(options);
  if (options_.has_second())
    bytes = std::max(bytes, sorted_bytes_per_entry(list_options(second_parts(), Direction::kOut)));
  const std::uint64_t needed = 8 * bytes * (entries / kListShare + 1) * options_.memory_parts;
  return say("pass memory='", (needed >> 20) + 1, "MiB' or more");
}

// Calls use(lists) for the lists of all nodes of the spool, in order.
template <class Use>
void GraphCompiler::for_each_lists(EdgeSpool& spool, const ListOptions& options,
                                   std::uint64_t end_node, const Use& use) {
  const std::uint64_t share = bucket_share(options_.memory);
  const std::uint64_t most_entries =
      std::max<std::uint64_t>(share / sorted_bytes_per_entry(options), 1);
  const std::uint64_t most_nodes = std::max<std::uint64_t>(share / kListBytesPerNode, 1);
  const auto builder = make_list_builder(options);
  const auto buckets = spool.make_buckets(end_node, most_entries, most_nodes);
  EdgeSpool::Loaded loaded_bucket;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const EdgeSpool::Bucket& bucket = buckets[i];
    const bool is_one_node = bucket.end_node - bucket.first_node == 1;
    if (bucket.entries > most_entries && !is_one_node) {
      // Too many for one go: the same again, with narrower cells.
      EdgeSpool part(options.parts, share, options_.folder, bucket.first_node);
      spool.for_each_portion(bucket, [&](const EdgePiece& piece) { part.add(piece); });
      for_each_lists(part, options, bucket.end_node, use);
      spilled_bytes_ += part.spilled_bytes();
    } else {
      // A single list may take what is left of the budget, but no more.
      if (bucket.entries / kListShare > most_entries)
        throw BudgetError(say("node ", bucket.first_node, " has ", bucket.entries,
                              " neighbors, which must be sorted in memory; ",
                              advise_memory(options, bucket.entries)));
      spool.load(bucket, loaded_bucket);
      if (i + 1 < buckets.size() && buckets[i + 1].entries <= most_entries)
        spool.prefetch(buckets[i + 1]);
      use(builder->build(bucket.first_node, bucket.end_node, loaded_bucket.pieces));
    }
  }
}

std::uint64_t GraphCompiler::num_entries() const {
  require_open();
  return spool_->size();
}

void GraphCompiler::add_appearances(
    std::span<std::uint32_t> counts,
    const std::function<void(std::uint64_t entries)>& has_counted) const {
  if (counts.size() < num_appearing())
    throw std::invalid_argument(
        say("edges name ", num_appearing(), " nodes, and there are ", counts.size(), " counts"));
  spool_->for_each_entry(
      [&](const ListEntry& entry) {
        const std::atomic_ref count(counts[static_cast<std::size_t>(entry.neighbor)]);
        // One that has gone round goes back, whatever other threads have added meanwhile: each of
        // them that comes to the end does so, too.
        if (count.fetch_add(1, std::memory_order_relaxed) == UINT32_MAX)
          count.store(UINT32_MAX, std::memory_order_relaxed);
      },
      has_counted);
}

std::uint64_t GraphCompiler::waiting_bytes() const {
  require_open();
  return spool_->memory_bytes();
}

void GraphCompiler::set_memory(std::uint64_t memory, std::uint64_t parts) {
  require_open();
  options_.memory = memory;
  options_.memory_parts = parts;
  if (spool_->memory_bytes() > memory / 2) spool_->spill();
}

void GraphCompiler::renumber(const NewIds& new_sources, const NewIds& new_destinations) {
  if (!new_sources.empty()) new_sources.require_renumbering(counts_.sources);
  if (!new_destinations.empty() && !new_destinations.are_same_memory(new_sources))
    new_destinations.require_renumbering(counts_.destinations);
  const bool is_in = options_.first_direction() == Direction::kIn;
  const NewIds& new_owners = is_in ? new_destinations : new_sources;
  const NewIds& new_neighbors = is_in ? new_sources : new_destinations;
  auto renumbered = std::make_unique<EdgeSpool>(parts_, options_.memory * 3 / 8, options_.folder);
  spool_->drain([&](const EdgePiece& piece) {
    renumbered->add(Renumbered(piece, new_owners, new_neighbors));
  });
  spilled_bytes_ += spool_->spilled_bytes();
  spool_ = std::move(renumbered);
}

// With dedup, how many edges remain is known only when all have been sorted.
std::uint64_t GraphCompiler::count_edges() {
  if (options_.dedup == Dedup::kKeepAll) return spool_->size();
  const Direction direction = options_.first_direction();
  ListOptions options = list_options({.times = options_.has_times}, direction);
  options.dedup = Dedup::kKeepFirst;
  std::uint64_t count = 0;
  for_each_lists(*spool_, options, counts_.lists(direction), [&](const NeighborLists& lists) {
    count += lists.num_entries();
    advance(lists.num_entries());
  });
  return count;
}

void GraphCompiler::write_lists(EdgeSpool& spool, Direction direction, const ListOptions& options,
                                GraphFile& file, EdgeSpool* second) {
  std::uint64_t first_row = 0;
  for_each_lists(spool, options, counts_.lists(direction), [&](const NeighborLists& lists) {
    file.append(lists);
    if (second != nullptr) {
      second->add(ListSource{lists, first_row});
      first_row += lists.num_entries();
    }
    advance(lists.num_entries());
  });
  spilled_bytes_ += spool.spilled_bytes();
}

GraphSummary GraphCompiler::finish(const std::filesystem::path& path, const ExternalIds& node_ids,
                                   const NewIds& new_ids, const Progress& progress) {
  counts_.sources = num_sources();
  counts_.destinations = num_destinations();
  progress_ = &progress;
  if (!node_ids.empty() && options_.rectangular)
    throw std::invalid_argument(
        "edges between two node types have ends with ids of their own, which a dataset keeps");
  if (!new_ids.empty() && options_.rectangular)
    throw std::invalid_argument("the two ends of edges need new ids of their own");
  // Nodes that no edge names have ids all the same.
  if (!options_.num_nodes && !options_.rectangular)
    counts_.sources = counts_.destinations = std::max(counts_.destinations, node_ids.size());
  if (!node_ids.empty() && node_ids.size() != counts_.destinations)
    throw std::invalid_argument(
        say("there are ", counts_.destinations, " nodes and ", node_ids.size(), " node_ids"));
  require_plausible(counts_.destinations, options_.num_nodes.has_value());
  if (options_.rectangular) require_plausible(counts_.sources, options_.num_sources.has_value());
  return write(path, node_ids, {.new_ids = new_ids}, {.new_ids = new_ids});
}

GraphSummary GraphCompiler::finish_between(const std::filesystem::path& path,
                                           const FinalNodes& sources,
                                           const FinalNodes& destinations,
                                           const Progress& progress) {
  if (sources.count < num_sources() || destinations.count < num_destinations())
    throw std::invalid_argument(say("edges name ", num_sources(), " sources and ",
                                    num_destinations(), " destinations, and there are ",
                                    sources.count, " and ", destinations.count));
  if (!options_.rectangular &&
      (sources.count != destinations.count || sources.order != destinations.order ||
       !sources.new_ids.are_same_memory(destinations.new_ids)))
    throw std::invalid_argument("the ends of edges within one node type are the same nodes");
  counts_.sources = sources.count;
  counts_.destinations = destinations.count;
  progress_ = &progress;
  return write(path, {}, sources, destinations);
}

GraphSummary GraphCompiler::write(const std::filesystem::path& path, const ExternalIds& node_ids,
                                  const FinalNodes& sources, const FinalNodes& destinations) {
  total_ = spool_->size() * (1 + (options_.dedup != Dedup::kKeepAll) + options_.has_second());
  advance(0);
  require_space(path);
  if (!sources.new_ids.empty() || !destinations.new_ids.empty())
    renumber(sources.new_ids, destinations.new_ids);
  counts_.edges = count_edges();
  counts_.rows = num_rows_;
  GraphFile file(path, options_, counts_, node_ids, {sources.order, destinations.order});
  const Direction direction = options_.first_direction();
  ListOptions first = list_options(parts_, direction);
  first.dedup = options_.dedup;
  // The budget, without what the first spool has and sorting a bucket takes.
  const std::uint64_t taken = spool_->memory_bytes() + 2 * bucket_share(options_.memory);
  EdgeSpool second(second_parts(), options_.memory - std::min(taken, options_.memory * 7 / 8),
                   options_.folder);
  write_lists(*spool_, direction, first, file, options_.has_second() ? &second : nullptr);
  spool_.reset();
  if (options_.has_second()) {
    file.begin_lists(Direction::kOut);
    write_lists(second, Direction::kOut, list_options(second_parts(), Direction::kOut), file,
                nullptr);
  }
  advance(total_);  // what it throws must come before the file appears
  return {counts_.destinations, counts_.edges, file.finish(), spilled_bytes_, counts_.sources};
}

}  // namespace graphmount
