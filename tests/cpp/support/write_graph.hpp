// Graph files in one call, and the strings that name their nodes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "graphmount/compile/graph_compiler.hpp"

namespace graphmount::testing {

/// Owns strings in the form in which the core takes them, and must live as long as it uses them.
class Names {
 public:
  Names(std::initializer_list<std::string> names) : Names(std::vector<std::string>(names)) {}
  Names(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      bytes_ += name;
      offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
    }
  }
  operator NameColumn() const { return {offsets_, bytes_}; }

 private:
  std::vector<std::int64_t> offsets_ = {0};
  std::string bytes_;
};

/// The rows [first, first + count), or as many as there are.
inline EdgeColumns slice(const EdgeColumns& columns, std::size_t first, std::size_t count) {
  count = std::min<std::size_t>(count, columns.src.size() - first);
  EdgeColumns part{columns.src.subspan(first, count), columns.dst.subspan(first, count),
                   std::nullopt, std::nullopt};
  if (columns.weights) part.weights = columns.weights->subspan(first, count);
  if (columns.times) part.times = columns.times->subspan(first, count);
  return part;
}

/// The edges in batches of so many rows.
inline void add_in_batches(GraphCompiler& compiler, const EdgeColumns& columns, std::size_t batch) {
  for (std::size_t first = 0; first < columns.src.size(); first += batch)
    compiler.add(slice(columns, first, batch));
}

/// Compiles the edges; what the columns and ids tell of the options need not be said twice.
inline GraphSummary write_graph(const std::filesystem::path& path, const EdgeColumns& columns,
                                const ExternalIds& ids, GraphOptions options,
                                const Progress& progress) {
  options.has_weights = columns.weights.has_value();
  options.has_times = columns.times.has_value();
  if (!ids.empty() && !options.num_nodes) options.num_nodes = ids.size();
  GraphCompiler compiler(options);
  compiler.add(columns);
  return compiler.finish(path, ids, {}, progress);
}

}  // namespace graphmount::testing
