// The pipeline over several types of nodes and relations: every table gets the rows of its own
// type or relation, seeds are of the type that they say, and ids of the source are those of each
// type.
#include <chrono>
#include <cstring>
#include <memory>
#include <random>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/list_reads.hpp"
#include "graphmount/loading/batch_pipeline.hpp"
#include "graphmount/loading/link_seeds.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/training/turned_hops.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr auto kPatience = std::chrono::milliseconds(20'000);
// Papers, authors, and a type that no edge reaches.
constexpr std::uint64_t kNumNodes[] = {60, 25, 9};
constexpr int kNumEdges = 400;
constexpr std::int64_t kSpaceStep = 100'000;  // rows of a table say which one it is

std::shared_ptr<const Graph> make_relation(const TemporaryFolder& folder, const std::string& name,
                                           std::uint64_t source, std::uint64_t destination) {
  std::mt19937_64 random(source + 7 * destination);
  Edges edges;
  for (int i = 0; i < kNumEdges; ++i)
    edges.add(static_cast<NodeId>(random() % kNumNodes[source]),
              static_cast<NodeId>(random() % kNumNodes[destination]));
  GraphOptions options{.num_nodes = kNumNodes[destination],
                       .rectangular = source != destination,
                       .keep_source_rows = true};
  if (options.rectangular) options.num_sources = kNumNodes[source];
  write_graph(folder / name, edges.columns(), {}, options, {});
  return std::make_shared<const Graph>(folder / name);
}

/// Authors write papers, papers cite papers, papers are by authors; nobody reaches the last type.
SampledGraph make_data(const TemporaryFolder& folder) {
  return {{{kNumNodes[0]}, {kNumNodes[1]}, {kNumNodes[2]}},
          {{make_relation(folder, "writes.gl", 1, 0), 1, 0, {3, 2}},
           {make_relation(folder, "cites.gl", 0, 0), 0, 0, {2, 4}},
           {make_relation(folder, "by.gl", 0, 1), 0, 1, {1, 3}}}};
}

/// A table whose rows are their numbers, and which space they are of.
class Table {
 public:
  Table(const TemporaryFolder& folder, IdSpace space, std::uint64_t num_rows, std::uint64_t memory)
      : first_(first_of(space)), matrix_(write(folder, num_rows)) {
    FeedOptions options;
    options.space = space;
    options.memory = memory;
    options.slot_share = 0.3;
    options.window = 8;
    for (std::uint64_t row = 0; row < num_rows / 2; ++row)
      options.trial.push_back(static_cast<std::int64_t>(row));
    feed_ = std::make_shared<TableFeed>(matrix_, options);
  }

  static std::int64_t first_of(IdSpace space) {
    const auto place = 10 * (space.kind == IdSpace::Kind::kEdges) + space.number + 1;
    return static_cast<std::int64_t>(place) * kSpaceStep;
  }

  std::shared_ptr<TableFeed> feed() const { return feed_; }

  void check(const LoadedBatch& batch, std::size_t table) const {
    const auto ids = ids_of(batch.sample, feed_->space());
    CHECK_EQUAL(batch.num_rows[table], ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::int64_t value = 0;
      std::memcpy(&value, batch.rows[table].data() + i * sizeof value, sizeof value);
      CHECK_EQUAL(value, first_ + ids[i]);
    }
  }

 private:
  std::string write(const TemporaryFolder& folder, std::uint64_t num_rows) const {
    std::vector<std::int64_t> values(num_rows);
    for (std::size_t i = 0; i < num_rows; ++i) values[i] = first_ + static_cast<std::int64_t>(i);
    const std::string path = folder / ("x" + std::to_string(first_) + ".gd");
    FeatureWriter writer(path, {.dtype = DType::kInt64, .rows = num_rows, .columns = 1});
    writer.append(std::as_bytes(std::span(values)));
    writer.finish();
    return path;
  }

  std::int64_t first_;
  FeatureMatrix matrix_;
  std::shared_ptr<TableFeed> feed_;
};

std::shared_ptr<const SeedSource> all_nodes(std::size_t type, std::uint64_t batch_size) {
  std::vector<NodeId> nodes(kNumNodes[type]);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeId>(i);
  return std::make_shared<NodeSeeds>(nodes, std::vector<std::int64_t>(), batch_size, type);
}

}  // namespace

TEST(every_table_gets_rows_of_its_own_type_or_relation) {
  const TemporaryFolder folder;
  const SampledGraph data = make_data(folder);
  for (const std::uint64_t memory : {0, 200, 100'000}) {
    std::vector<std::unique_ptr<Table>> tables;
    std::vector<std::shared_ptr<TableFeed>> feeds;
    // In an order of their own.
    for (const IdSpace space :
         {IdSpace{IdSpace::Kind::kEdges, 2}, IdSpace{IdSpace::Kind::kNodes, 1},
          IdSpace{IdSpace::Kind::kNodes, 2}, IdSpace{IdSpace::Kind::kEdges, 0},
          IdSpace{IdSpace::Kind::kNodes, 0}}) {
      const bool is_edges = space.kind == IdSpace::Kind::kEdges;
      tables.push_back(std::make_unique<Table>(
          folder, space, is_edges ? kNumEdges : kNumNodes[space.number], memory));
      feeds.push_back(tables.back()->feed());
    }
    for (const std::size_t type : {0U, 1U, 2U}) {
      PipelineOptions options;
      options.sample.fanouts = {5, 5};
      const auto seeds = all_nodes(type, 4);
      BatchPipeline pipeline(data, feeds, seeds, options);
      LoadedBatch batch;
      std::uint64_t count = 0, num_nodes = 0;
      while (pipeline.next(batch, kPatience) == BatchPipeline::Next::kBatch) {
        const auto wanted = seeds->seeds_of(count++, RandomKey(0)).nodes;
        const TypeSample& own = batch.sample.types[type];
        CHECK_EQUAL(own.num_sampled_nodes[0], static_cast<std::int64_t>(wanted.size()));
        for (std::size_t i = 0; i < wanted.size(); ++i) CHECK_EQUAL((*own.nodes)[i], wanted[i]);
        for (std::size_t i = 0; i < tables.size(); ++i) tables[i]->check(batch, i);
        num_nodes += batch.sample.types[1].nodes->size();
        CHECK_EQUAL(batch.sample.types[2].nodes->size(), type == 2 ? wanted.size() : 0);
      }
      CHECK_EQUAL(count, seeds->num_batches());
      CHECK_EQUAL(pipeline.stats().sampled_nodes[1], num_nodes);
    }
  }
}

TEST(edges_of_all_relations_have_rows_of_their_source) {
  const TemporaryFolder folder;
  const SampledGraph data = make_data(folder);
  const Graph writes(folder / "writes.gl");
  const auto rows =
      read_list<std::int64_t>(writes, SectionKind::kSourceRows, Direction::kIn, 0, kNumEdges);
  for (const bool has_table : {false, true}) {
    const Table table(folder, {IdSpace::Kind::kEdges, 1}, kNumEdges, 1000);
    std::vector<std::shared_ptr<TableFeed>> feeds;
    if (has_table) feeds.push_back(table.feed());
    PipelineOptions options;
    options.sample.fanouts = {5, 5};
    BatchPipeline own(data, {}, all_nodes(0, 8), options);
    options.source_rows = true;
    BatchPipeline other(data, feeds, all_nodes(0, 8), options);
    LoadedBatch batch, translated;
    while (own.next(batch, kPatience) == BatchPipeline::Next::kBatch) {
      CHECK(other.next(translated, kPatience) == BatchPipeline::Next::kBatch);
      const auto ids = batch.sample.relations[0].edge_ids->span();
      for (std::size_t i = 0; i < ids.size(); ++i)
        CHECK_EQUAL((*translated.sample.relations[0].edge_ids)[i],
                    rows[static_cast<std::size_t>(ids[i])]);
    }
  }
}

TEST(edges_of_each_relation_are_turned_round) {
  const TemporaryFolder folder;
  const SampledGraph data = make_data(folder);
  PipelineOptions options;
  options.sample.fanouts = {5, 5};
  options.turned_edges = true;
  constexpr std::size_t kEnds[][2] = {{1, 0}, {0, 0}, {0, 1}};  // as make_data has them
  for (const std::size_t type : {0U, 1U, 2U}) {
    BatchPipeline pipeline(data, {}, all_nodes(type, 8), options);
    LoadedBatch batch;
    while (pipeline.next(batch, kPatience) == BatchPipeline::Next::kBatch) {
      CHECK_EQUAL(batch.turned.size(), 3U);
      for (std::size_t i = 0; i < 3; ++i) {
        const RelationSample& relation = batch.sample.relations[i];
        const HopEdges edges{
            relation.indptr->span(), relation.edge_index->span().first(relation.edge_ids->size()),
            batch.sample.types[kEnds[i][1]].num_sampled_nodes,
            batch.sample.types[kEnds[i][0]].num_sampled_nodes, relation.num_sampled_edges};
        std::vector<std::int64_t> wanted(turned_size(edges));
        turn_hops(edges, wanted);
        const auto found = batch.turned[i]->span();
        CHECK_EQUAL(std::vector(found.begin(), found.end()), wanted);
      }
    }
  }
  options.sample.induced = true;
  CHECK_THROWS(BatchPipeline(data, {}, all_nodes(0, 8), options), std::invalid_argument);
}

TEST(links_between_two_types_have_seeds_of_both) {
  const TemporaryFolder folder;
  const auto graph = make_relation(folder, "writes.gl", 1, 0);
  const auto links =
      std::make_shared<const Links>(Links{{24, 3, 3, 7}, {59, 40, 2, 40}, {10, 11, 12, 13}});
  const LinkSeeds joined(graph, links, {3, 1, 2, 0}, 3, false, {}, {1, 0});
  const BatchSeeds seeds = joined.seeds_of(0, RandomKey(1));
  CHECK_EQUAL(seeds.type, 1U);
  CHECK_EQUAL(seeds.destination_type, 0U);
  CHECK_EQUAL(seeds.nodes, (std::vector<NodeId>{3, 7}));
  CHECK_EQUAL(seeds.destinations, (std::vector<NodeId>{2, 40}));
  CHECK_EQUAL(seeds.ends, (std::vector<std::int64_t>{1, 0, 0, 1, 1, 0}));
  const LinkSeeds apart(graph, links, {3, 1, 2, 0}, 3, true, {}, {1, 0});
  const BatchSeeds trees = apart.seeds_of(0, RandomKey(1));
  CHECK_EQUAL(trees.nodes, (std::vector<NodeId>{7, 3, 3}));
  CHECK_EQUAL(trees.destinations, (std::vector<NodeId>{40, 40, 2}));
  CHECK_EQUAL(trees.times, (std::vector<std::int64_t>{13, 11, 12}));
  CHECK_EQUAL(trees.destination_times, trees.times);
  CHECK_EQUAL(trees.ends, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2}));
  // Node 59 is a paper, and no author.
  const auto turned = std::make_shared<const Links>(Links{{59}, {24}, {}});
  CHECK_THROWS(LinkSeeds(graph, turned, {0}, 1, false, {}, {1, 0}), IdError);
}

TEST(what_is_not_there_is_refused) {
  const TemporaryFolder folder;
  const SampledGraph data = make_data(folder);
  const Table nowhere(folder, {IdSpace::Kind::kNodes, 3}, 5, 0);
  CHECK_THROWS_WITH(BatchPipeline(data, {nowhere.feed()}, all_nodes(0, 4), {}),
                    std::invalid_argument, "a table of nodes of number 3");
  const auto foreign =
      std::make_shared<NodeSeeds>(std::vector<NodeId>{0}, std::vector<std::int64_t>(), 1, 3);
  BatchPipeline pipeline(data, {}, foreign, {});
  LoadedBatch batch;
  CHECK_THROWS_WITH(pipeline.next(batch, kPatience), std::invalid_argument, "type 3 of 3");
  // A table that is shorter than its type.
  const Table cut(folder, {IdSpace::Kind::kNodes, 1}, 3, 0);
  PipelineOptions options;
  options.sample.fanouts = {kAllNeighbors};
  BatchPipeline reading(data, {cut.feed()}, all_nodes(1, 4), options);
  CHECK_THROWS_WITH(reading.next(batch, kPatience), IdError, "fewer rows");
}
