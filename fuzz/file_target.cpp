// Files, .gl or .gd: opens the bytes as a file of either kind and calls everything there is. The
// checksums are made right first; else nearly all changes would end at them. Nothing but an error
// of ours may come of it, and a file that verifies can be read.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "corpus.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/degree_summary.hpp"
#include "graphmount/graph/edge_search.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/graph/node_ids.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/verify/verify.hpp"
#include "mutate.hpp"
#include "target.hpp"
#include "temporary_folder.hpp"

namespace graphmount::fuzz {
namespace {

// A file that exists in memory only, opened by its name under /proc.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes)
      : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) give_up("cannot make a file in memory");
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) give_up("cannot write to a file in memory");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// Runs one call. Damage may make it throw; in a file that verifies, nothing may.
class Caller {
 public:
  explicit Caller(bool is_sound) : is_sound_(is_sound) {}

  template <class Call>
  void operator()(const char* name, const Call& call) const {
    try {
      call();
    } catch (const FormatError& error) {
      if (is_sound_) give_up(std::string(name) + " of a file that verifies: " + error.what());
    } catch (const MissingDataError&) {
      // No lists in that direction, no external ids: not a matter of damage.
    } catch (const IdError& error) {
      if (is_sound_) give_up(std::string(name) + " of a file that verifies: " + error.what());
    }
  }

 private:
  bool is_sound_;
};

unsigned touch_views(const Mount& mount) {
  unsigned sum = 0;
  for (const MapMode mode : {MapMode::kShared, MapMode::kPrivate}) {
    const auto view = mount.map_for_view(mode);
    for (const Section& section : mount.header().sections)
      for (const std::byte byte : view->bytes().subspan(section.offset, section.bytes))
        sum += std::to_integer<unsigned>(byte);
  }
  return sum;
}

template <class File>
void read_node_ids(const std::shared_ptr<const File>& file, const std::vector<NodeId>& nodes,
                   const Caller& call) {
  std::vector<NodeId> found(nodes.size());
  call("node ids", [&] {
    const NodeIds ids(file);
    if (ids.kind() == NodeIds::Kind::kNumbers) {
      std::vector<std::int64_t> numbers(nodes.size());
      ids.to_external(nodes, numbers);
      ids.to_internal(numbers, found);
    } else {
      const OwnedNames names = ids.to_external_names(nodes);
      ids.to_internal(names.column(), found);
    }
    // Every node has been asked for by its own id, and ids of a sound file are all different.
    if (found != nodes)
      throw FormatError(file->mount().file().path(), "an id leads to another node");
  });
}

std::vector<NodeId> first_nodes(std::uint64_t count) {
  std::vector<NodeId> nodes(count);
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

void search_all(const Graph& graph, const Caller& call) {
  const auto pairs = first_nodes(std::min(graph.num_sources(), graph.num_destinations()));
  std::vector<std::uint8_t> found(pairs.size());
  call("find_edges", [&] { find_edges(graph, pairs, pairs, found); });
}

// Calls for graphs of one node type.
void sample_all(const Graph& graph, const std::vector<NodeId>& nodes, const Caller& call) {
  std::vector<NodeId> sources(nodes.size()), others(nodes.size());
  const auto require_nodes = [&] {
    for (const NodeId node : others)
      if (node < -1 || node >= static_cast<NodeId>(nodes.size())) give_up("a negative is no node");
  };
  for (const NegativeWeighting weighting :
       {NegativeWeighting::kUniform, NegativeWeighting::kDegree}) {
    const NegativeOptions options{weighting, true, false, -1};
    for (const EdgeEnd end : {EdgeEnd::kSource, EdgeEnd::kDestination})
      call("sample_negatives", [&] {
        sample_negatives(graph, nodes, end, options, RandomKey(1), others);
        require_nodes();
      });
    call("sample_negative_pairs", [&] {
      sample_negative_pairs(graph, options, RandomKey(1), sources, others);
      require_nodes();
    });
  }
}

void read_graph(const std::string& path, const Caller& call) {
  const auto graph = std::make_shared<const Graph>(path);
  const auto num_edges = static_cast<std::int64_t>(graph->num_edges());
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    // Only the sizes of sections bound the counts of a header.
    if (!graph->is_undirected() && !graph->has_lists(direction)) continue;
    const auto nodes = first_nodes(graph->num_lists(direction));
    std::vector<std::int64_t> degrees(nodes.size());
    call("degrees", [&] { graph->degrees(nodes, direction, degrees); });
    call("all_degrees", [&] { graph->all_degrees(direction, degrees); });
    call("prefetch", [&] { graph->prefetch(nodes, direction); });
    call("summarize_degrees", [&] { summarize_degrees(*graph, direction); });
    for (const NodeId node : nodes) {
      call("neighbor_range", [&] {
        const ListRange range = graph->neighbor_range(node, direction);
        if (range.begin < 0 || range.begin > range.end || range.end > num_edges)
          give_up("a range outside the lists");
      });
    }
  }
  search_all(*graph, call);
  if (!graph->is_rectangular()) {
    const auto nodes = first_nodes(graph->num_nodes());
    sample_all(*graph, nodes, call);
    read_node_ids(graph, nodes, call);
  }
  touch_views(graph->mount());
  graph->mount().advise(Advice::kPopulate);
}

void read_id_file(const std::string& path, const Caller& call) {
  const auto file = std::make_shared<const NodeIdFile>(MappedFile::open(path));
  read_node_ids(file, first_nodes(file->num_nodes()), call);
  touch_views(file->mount());
}

void read_features(const std::string& path, const Caller& call) {
  const FeatureMatrix features(path);
  std::vector<std::int64_t> rows;
  for (const std::uint64_t row :
       {std::uint64_t{0}, features.num_rows() / 2, features.num_rows() - std::uint64_t{1}})
    if (row < features.num_rows()) rows.push_back(static_cast<std::int64_t>(row));
  call("prefetch", [&] { features.prefetch(rows); });
  touch_views(features.mount());
  features.mount().advise(Advice::kPopulate);
}

template <class Read>
void expect_only_our_errors(const Read& read) {
  try {
    read();
  } catch (const FileError&) {
  } catch (const std::exception& error) {
    give_up(std::string("an exception that is not one of ours: ") + error.what());
  }
}

}  // namespace

std::vector<Bytes> make_corpus() {
  const testing::TemporaryFolder folder;
  return GRAPHMOUNT_FUZZ_GRAPHS != 0 ? make_graphs(folder.path()) : make_matrices(folder.path());
}

void mutate(Bytes& input, std::uint64_t seed) {
  Mutator(seed).mutate(input);
}

void run_input(std::span<const std::byte> input) {
  testing::Bytes bytes(input.begin(), input.end());
  // One time in four the chunks keep their checksums, as damage by chance would have it.
  if (xxh64(bytes) % 4 == 0)
    testing::repair_header(bytes);
  else
    testing::repair_checksums(bytes);
  const MemoryFile file(bytes);
  bool is_sound = false;
  expect_only_our_errors([&] {
    const Verification verification = verify_file(file.path(), {});
    is_sound = verification.num_problems == 0;
    if (is_sound != verification.problems.empty()) give_up("problems are counted but not listed");
  });
  const Caller call(is_sound);
  expect_only_our_errors([&] { read_graph(file.path(), call); });
  expect_only_our_errors([&] { read_id_file(file.path(), call); });
  expect_only_our_errors([&] { read_features(file.path(), call); });
}

}  // namespace graphmount::fuzz
