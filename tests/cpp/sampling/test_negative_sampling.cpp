// Negatives: never an edge where that is asked for, the same for any number of threads, an end to
// every call, and no trust in damaged files. Distributions are tested in Python.
#include <functional>
#include <numeric>
#include <set>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "mixed_dtypes.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

using Nodes = std::vector<NodeId>;
constexpr auto kUniform = NegativeWeighting::kUniform;
constexpr auto kDegree = NegativeWeighting::kDegree;
constexpr NodeId kNodes = 12;

// All edges but those from a node to itself and to the next one: strict negatives are few.
Edges nearly_complete(NodeId num_nodes) {
  Edges edges;
  for (NodeId source = 0; source < num_nodes; ++source)
    for (NodeId other = 0; other < num_nodes; ++other)
      if (other != source && other != (source + 1) % num_nodes)
        edges.add(source, other, 1.0F, (source * 7 + other * 5) % 11);
  return edges;
}

Nodes all_nodes(NodeId count) {
  Nodes nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

Nodes sample(const Graph& graph, const Nodes& kept, std::size_t num, const NegativeOptions& options,
             EdgeEnd corrupt = EdgeEnd::kDestination, std::uint64_t key = 3) {
  Nodes out(kept.size() * num, -7);
  sample_negatives(graph, kept, corrupt, options, RandomKey(key), out);
  return out;
}

struct Pairs {
  Nodes sources, destinations;
  bool operator==(const Pairs&) const = default;
};

Pairs sample_pairs(const Graph& graph, std::size_t num, const NegativeOptions& options) {
  Pairs pairs{Nodes(num, -7), Nodes(num, -7)};
  sample_negative_pairs(graph, options, RandomKey(3), pairs.sources, pairs.destinations);
  return pairs;
}

class Compiled {
 public:
  explicit Compiled(const Edges& edges, const GraphOptions& options = {.num_nodes = kNodes},
                    bool is_temporal = false) {
    write_graph(path(), edges.columns(false, is_temporal), {}, options, {});
  }
  std::filesystem::path path() const { return folder_ / "g.gl"; }
  Graph open() const { return Graph(path()); }

 private:
  TemporaryFolder folder_;
};

const std::vector<NegativeOptions>& all_options() {
  static const std::vector<NegativeOptions> options = [] {
    std::vector<NegativeOptions> made;
    for (const NegativeWeighting weighting : {kUniform, kDegree})
      for (const bool is_strict : {false, true})
        for (const bool allows_loops : {false, true})
          made.push_back({weighting, is_strict, allows_loops, {}});
    return made;
  }();
  return options;
}

}  // namespace

TEST(strict_negatives_are_found_where_there_are_few) {
  for (const bool is_temporal : {false, true})
    for (const bool is_wide : {false, true}) {
      const Compiled file(nearly_complete(kNodes), {.num_nodes = kNodes, .wide_indices = is_wide},
                          is_temporal);
      const Graph graph = file.open();
      for (const NegativeWeighting weighting : {kUniform, kDegree}) {
        const NegativeOptions options{weighting, true, false, {}};
        const Nodes ahead = sample(graph, all_nodes(kNodes), 3, options);
        const Nodes behind = sample(graph, all_nodes(kNodes), 3, options, EdgeEnd::kSource);
        const Pairs pairs = sample_pairs(graph, 500, options);
        for (NodeId place = 0; place < 3 * kNodes; ++place) {
          const auto at = static_cast<std::size_t>(place);
          CHECK_EQUAL(ahead[at], (place / 3 + 1) % kNodes);
          CHECK_EQUAL(behind[at], (place / 3 + kNodes - 1) % kNodes);
        }
        for (std::size_t i = 0; i < 500; ++i)
          CHECK_EQUAL(pairs.destinations[i], (pairs.sources[i] + 1) % kNodes);
        CHECK_EQUAL(std::set(pairs.sources.begin(), pairs.sources.end()).size(), 12U);
      }
    }
}

TEST(directions_may_be_of_different_dtypes) {
  const Compiled file(nearly_complete(kNodes), {.num_nodes = kNodes, .wide_indices = true});
  const auto sample_all = [&] {
    const Graph graph = file.open();
    std::vector<Nodes> samples;
    for (const NegativeOptions& options : all_options()) {
      samples.push_back(sample(graph, all_nodes(kNodes), 4, options));
      samples.push_back(sample(graph, all_nodes(kNodes), 4, options, EdgeEnd::kSource));
      samples.push_back(sample_pairs(graph, 50, options).sources);
    }
    return samples;
  };
  const auto before = sample_all();
  narrow_outgoing(file.path());
  CHECK(sample_all() == before);
}

TEST(results_do_not_depend_on_threads_or_other_rows) {
  constexpr NodeId kMany = 3000;
  Edges edges = random_edges(4, kMany, 30'000);
  for (NodeId node = 0; node < kMany; ++node) edges.add(7, node);  // has no strict negative
  const Compiled file(edges, {.num_nodes = kMany});
  const Graph graph = file.open();
  const int before = num_threads();
  for (NegativeOptions options : all_options()) {
    options.pad = -2;
    set_num_threads(1);
    const Nodes alone = sample(graph, all_nodes(kMany), 3, options);
    const Pairs pairs = sample_pairs(graph, 5000, options);
    for (const int count : {2, 7}) {
      set_num_threads(count);
      CHECK(sample(graph, all_nodes(kMany), 3, options) == alone);
      CHECK(sample_pairs(graph, 5000, options) == pairs);
    }
    for (const std::size_t rows : {1U, 8U, 1000U}) {
      const Nodes first = sample(graph, all_nodes(static_cast<NodeId>(rows)), 3, options);
      CHECK(std::equal(first.begin(), first.end(), alone.begin()));
    }
    CHECK_EQUAL(alone[7 * 3] == -2, options.is_strict);
    CHECK(sample(graph, all_nodes(kMany), 3, options, EdgeEnd::kDestination, 4) != alone);
  }
  set_num_threads(before);
}

TEST(nodes_without_negatives_are_named) {
  Edges edges = random_edges(4, kNodes, 20);
  for (const NodeId hub : {9, 5})
    for (NodeId node = 0; node < kNodes; ++node)
      if (node != hub) edges.add(hub, node);
  const Compiled file(edges, {.num_nodes = kNodes, .drop_self_loops = true});
  const Graph graph = file.open();
  for (const NegativeWeighting weighting : {kUniform, kDegree}) {
    NegativeOptions options{weighting, true, false, {}};
    CHECK_THROWS_WITH(sample(graph, {0, 1, 5, 9}, 2, options), MissingDataError,
                      "node 5 (at position 2) has no negative");
    options.pad = -9;
    const Nodes padded = sample(graph, {0, 5, 1}, 2, options);
    CHECK_EQUAL(padded[2], -9);
    CHECK_EQUAL(padded[3], -9);
    CHECK(padded[0] >= 0 && padded[5] >= 0);
  }
  CHECK(sample(graph, {5}, 4, {kUniform, true, true, {}}) == Nodes(4, 5));
}

TEST(graphs_with_nothing_to_draw) {
  const Compiled empty({}, {.num_nodes = 0}), single({}, {.num_nodes = 1}), lonely({});
  const NegativeOptions strict{kUniform, true, false, {}}, degree{kDegree, false, true, {}};
  CHECK(sample(empty.open(), {}, 3, strict).empty());
  CHECK(sample_pairs(empty.open(), 0, degree) == Pairs{});
  CHECK_THROWS_WITH(sample_pairs(empty.open(), 1, strict), MissingDataError, "has no nodes");
  CHECK_THROWS_WITH(sample(empty.open(), {0}, 1, strict), IdError, "there are no nodes");
  CHECK_THROWS_WITH(sample(single.open(), {0}, 1, strict), MissingDataError, "one node only");
  CHECK(sample(single.open(), {0}, 2, {kUniform, true, true, {}}) == Nodes(2, 0));
  CHECK_THROWS_WITH(sample(lonely.open(), {0}, 1, degree), MissingDataError, "has no edges");
  CHECK(sample(lonely.open(), {0}, 2, {kDegree, false, true, -3}) == Nodes(2, -3));
  // All edges end in the one node that may not be drawn.
  Edges edges;
  edges.add(1, 2);
  edges.add(0, 2);
  const Compiled sink(edges);
  CHECK_THROWS_WITH(sample(sink.open(), {0, 2}, 1, {kDegree, false, false, {}}), MissingDataError,
                    "node 2 (at position 1) has no negative");
  CHECK_THROWS_WITH(sample_pairs(sink.open(), 4, {kDegree, true, false, {}}), MissingDataError,
                    "no negative pairs");
  const Pairs padded = sample_pairs(sink.open(), 4, {kDegree, true, false, -1});
  CHECK(padded.sources == Nodes(4, -1) && padded.destinations == Nodes(4, -1));
}

TEST(refuses_bad_arguments) {
  const Compiled file(random_edges(4, kNodes, 20));
  const Graph graph = file.open();
  CHECK_THROWS_WITH(sample(graph, {0, 12}, 1, {}), IdError, "node 12 (at position 1)");
  CHECK_THROWS_WITH(sample(graph, {-1}, 1, {}), IdError, "node -1 (at position 0)");
  CHECK_THROWS_WITH(sample(graph, {0}, 1, {kUniform, true, true, 0}), std::invalid_argument,
                    "pad=0 could be a node");
  Nodes three(3), two(2);
  CHECK_THROWS(sample_negatives(graph, two, EdgeEnd::kSource, {}, RandomKey(1), three),
               std::invalid_argument);
  CHECK_THROWS(sample_negatives(graph, {}, EdgeEnd::kSource, {}, RandomKey(1), three),
               std::invalid_argument);
  CHECK_THROWS(sample_negative_pairs(graph, {}, RandomKey(1), two, three), std::invalid_argument);
}

TEST(missing_directions_are_named) {
  const Edges edges = random_edges(4, kNodes, 20);
  const Compiled in_file(edges, {.num_nodes = kNodes, .out_lists = false}),
      out_file(edges, {.num_nodes = kNodes, .in_lists = false});
  const Graph in = in_file.open(), out = out_file.open();
  const NegativeOptions strict{kUniform, true, false, {}}, degree{kDegree, false, true, {}},
      strict_degree{kDegree, true, false, {}};
  for (const NegativeOptions& options : {strict, degree}) {
    sample(out, {0}, 1, options);
    sample(in, {0}, 1, options, EdgeEnd::kSource);
    CHECK_THROWS_WITH(sample(in, {0}, 1, options), MissingDataError, "neighbors='out'");
    CHECK_THROWS_WITH(sample(out, {}, 1, options, EdgeEnd::kSource), MissingDataError,
                      "neighbors='in'");
  }
  CHECK_THROWS_WITH(sample(out, {0}, 1, strict_degree), MissingDataError, "neighbors='both'");
  for (const Graph* graph : {&in, &out}) {
    sample(*graph, {0}, 1, {});
    sample_pairs(*graph, 5, strict);
    CHECK_THROWS_WITH(sample_pairs(*graph, 5, degree), MissingDataError, "neighbors='both'");
  }
}

TEST(every_damage_is_an_error_or_harmless) {
  const Compiled file(nearly_complete(kNodes));
  const Bytes good = read_bytes(file.path());
  const Header header = file.open().mount().header();
  int failures = 0;
  const auto try_all = [&](const Graph& graph) {
    const auto attempt = [&](const std::function<Nodes()>& call) {
      try {
        for (const NodeId node : call()) CHECK(node >= -1 && node < kNodes);
      } catch (const FormatError&) {
        ++failures;
      }
    };
    for (NegativeOptions options : all_options()) {
      options.pad = -1;
      attempt([&] { return sample(graph, all_nodes(kNodes), 2, options); });
      attempt([&] { return sample(graph, all_nodes(kNodes), 2, options, EdgeEnd::kSource); });
      attempt([&] { return sample_pairs(graph, 30, options).sources; });
    }
  };
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    const auto at = [&](SectionKind kind) { return header.find(kind, direction)->offset; };
    for (NodeId node = 0; node <= kNodes; ++node)
      for (const std::int64_t value :
           {std::int64_t{-1}, std::int64_t{0}, std::int64_t{50}, INT64_MAX, INT64_MIN}) {
        Bytes bytes = good;
        put(bytes, at(SectionKind::kIndptr) + 8 * static_cast<std::uint64_t>(node), value);
        write_bytes(file.path(), bytes);
        try_all(file.open());
      }
    for (std::uint64_t place = 0; place < header.num_columns; place += 7)
      for (const std::int32_t value : {-1, 0, 11, 12, INT32_MAX}) {
        Bytes bytes = good;
        put(bytes, at(SectionKind::kIndices) + 4 * place, value);
        write_bytes(file.path(), bytes);
        try_all(file.open());
      }
  }
  CHECK(failures > 500);
  write_bytes(file.path(), good);
  const Graph graph = file.open();
  std::filesystem::resize_file(file.path(), 4096);
  CHECK_THROWS(sample(graph, {0}, 2, {kUniform, true, false, {}}), FileChangedError);
  CHECK_THROWS(sample(graph, {0}, 2, {kDegree, true, false, {}}), FileChangedError);
  CHECK_THROWS(sample_pairs(graph, 2, {kUniform, true, false, {}}), FileChangedError);
}
