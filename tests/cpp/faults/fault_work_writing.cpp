#include <memory>

#include "check.hpp"
#include "fault_work.hpp"
#include "graphmount/compile/graph_compiler.hpp"
#include "graphmount/compile/row_scatter.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/text/reader.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "text_streams.hpp"
#include "write_graph.hpp"

namespace graphmount::testing {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30, kLittle = std::uint64_t{1} << 16;

Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  return bytes;
}

void compile_graph(const std::filesystem::path& path, std::uint64_t memory) {
  constexpr std::uint64_t kNodes = 300;
  const Edges edges = random_edges(7, kNodes, 3000);
  GraphOptions options;
  options.num_nodes = kNodes;
  options.has_weights = options.has_times = options.keep_source_rows = true;
  options.memory = memory;
  options.folder = path.parent_path();
  GraphCompiler compiler(options);
  compiler.add(edges.columns(true, true));
  const Names names(some_names(kNodes));
  const GraphSummary summary = compiler.finish(path, {{}, names}, {}, {});
  CHECK((summary.spilled_bytes > 0) == (memory == kLittle));
}

void write_matrix(const std::filesystem::path& path, std::optional<std::uint64_t> rows) {
  FeatureWriter writer(path, {.dtype = DType::kUInt8, .rows = rows, .columns = 1000});
  const Bytes row = some_bytes(1000);
  for (int i = 0; i < 700; ++i) writer.append(row);
  writer.finish(rows ? std::nullopt : std::optional<std::uint64_t>(700));
}

void sort_rows(const std::filesystem::path& path) {
  constexpr std::uint64_t kRows = 5000, kRowBytes = 600;
  std::vector<std::int64_t> destinations(kRows);
  for (std::size_t i = 0; i < kRows; ++i)
    destinations[i] = static_cast<std::int64_t>(i * 1237 % kRows);  // each once
  const Bytes rows = some_bytes(kRows * kRowBytes);
  ScatterOptions options;
  options.row_bytes = kRowBytes;
  options.tmp = path.parent_path();
  RowScatter scatter(options);
  scatter.add(destinations, rows);
  FeatureWriter writer(path,
                       {.dtype = DType::kUInt8, .rows = scatter.num_rows(), .columns = kRowBytes});
  scatter.write_to(writer, {});
  writer.finish();
}

std::string some_text() {
  std::string text = "id,x,y\n";
  for (int i = 0; i < 60'000; ++i)
    text += std::to_string(i) + "," + std::to_string(i % 97) + ".5,-" + std::to_string(i) + "\n";
  return text;
}

void write_text_rows(const std::filesystem::path& source, const std::filesystem::path& path) {
  TextLayout layout;
  layout.format.has_header = true;
  layout.outputs = {{TextType::kFloat32, {1, 2}}, {TextType::kNodeId, {0}}};
  TextReader reader("t.csv", std::make_unique<SourceFile>(source), layout, 1 << 16);
  FeatureWriter writer(path, {.dtype = DType::kFloat32, .rows = std::nullopt, .columns = 2});
  std::uint64_t num_rows = 0;
  while (auto batch = reader.read(1 << 18)) {
    const TextArray& rows = batch->arrays[0];
    writer.append({rows.items.data(), batch->num_rows * rows.row_bytes()});
    num_rows += batch->num_rows;
  }
  writer.finish(num_rows);
}

}  // namespace

std::vector<Work> writing_work() {
  const auto folder = std::make_shared<TemporaryFolder>(),
             sources = std::make_shared<TemporaryFolder>();
  write_text(*sources / "t.csv", some_text());
  std::vector<Work> works;
  const auto add = [&](const std::string& name, auto write) {
    const auto path = *folder / "output";
    const auto run = [folder, path, write] {
      write(path);
      return Bytes{};
    };
    works.push_back({name, run, folder->path(), path});
  };
  add("a graph in memory", [](const auto& path) { compile_graph(path, kPlenty); });
  add("a graph through temporary files", [](const auto& path) { compile_graph(path, kLittle); });
  add("a matrix", [](const auto& path) { write_matrix(path, 700); });
  add("a matrix of unknown size", [](const auto& path) { write_matrix(path, std::nullopt); });
  add("rows sorted through a temporary file", sort_rows);
  add("text", [sources](const auto& path) { write_text_rows(*sources / "t.csv", path); });
  return works;
}

}  // namespace graphmount::testing
