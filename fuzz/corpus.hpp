// Good files to begin with: one of each kind the writers can make, all small.
#pragma once

#include <filesystem>
#include <vector>

#include "forged_file.hpp"
#include "graphmount/compile/node_id_sections.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "random_edges.hpp"
#include "write_graph.hpp"

namespace graphmount::fuzz {

/// Writes graphs into `folder` and returns their bytes.
inline std::vector<testing::Bytes> make_graphs(const std::filesystem::path& folder) {
  std::vector<testing::Bytes> corpus;
  const auto add_graph = [&](int num_nodes, int num_edges, bool with_data, const ExternalIds& ids,
                             const GraphOptions& options) {
    const testing::Edges edges = testing::random_edges(1, num_nodes, num_edges);
    const auto path = folder / ("graph" + std::to_string(corpus.size()));
    testing::write_graph(path, edges.columns(with_data, with_data), ids, options, {});
    corpus.push_back(testing::read_bytes(path));
  };
  const std::vector<std::int64_t> numbers = {5, -3, 99, 0, 7, 8};
  const testing::Names names(testing::some_names(6));
  const ExternalIds with_numbers{numbers, {}}, with_names{{}, names};
  add_graph(6, 20, false, {}, {.num_nodes = 6, .out_lists = false});
  add_graph(6, 20, false, {}, {.num_nodes = 6, .in_lists = false, .keep_source_rows = true});
  add_graph(6, 20, false, with_numbers, {.num_nodes = 6});
  add_graph(6, 20, true, with_names, {.num_nodes = 6, .keep_source_rows = true});
  add_graph(6, 20, true, with_names, {.num_nodes = 6, .undirected = true});
  add_graph(6, 20, true, {}, {.num_nodes = 6, .wide_indices = true});
  add_graph(1, 0, true, {}, {.num_nodes = 0});
  // Between two node types: the edges of six nodes reach the first six of each.
  add_graph(6, 20, true, {}, {.num_nodes = 9, .rectangular = true, .num_sources = 6});
  add_graph(6, 20, false, {},
            {.num_nodes = 6, .rectangular = true, .num_sources = 11, .in_lists = false});
  for (const ExternalIds& ids : {with_numbers, with_names}) {
    const auto path = folder / ("ids" + std::to_string(corpus.size()));
    write_node_id_file(path, ids, 7, std::uint64_t{1} << 20);
    corpus.push_back(testing::read_bytes(path));
  }
  return corpus;
}

/// The same for tables.
inline std::vector<testing::Bytes> make_matrices(const std::filesystem::path& folder) {
  std::vector<testing::Bytes> corpus;
  const auto add_matrix = [&](const FeatureLayout& layout) {
    const auto path = folder / ("matrix" + std::to_string(corpus.size()));
    FeatureWriter writer(path, layout);
    writer.append(testing::Bytes(*layout.rows * layout.columns * traits_of(layout.dtype).item_bytes,
                                 std::byte{1}));
    writer.finish();
    corpus.push_back(testing::read_bytes(path));
  };
  add_matrix({.rows = 7, .columns = 3});
  add_matrix({.dtype = DType::kBool, .rows = 9, .columns = 1, .one_dimensional = true});
  add_matrix({.dtype = DType::kUInt8, .rows = kChunkBytes / 8 + 3, .columns = 9});
  add_matrix({.dtype = DType::kBFloat16, .rows = 0, .columns = 4});
  add_matrix({.dtype = DType::kInt8, .rows = 5, .columns = 2, .scales = {0.5F, 0.0F}});
  return corpus;
}

}  // namespace graphmount::fuzz
