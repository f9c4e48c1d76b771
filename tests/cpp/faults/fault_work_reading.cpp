#include <chrono>
#include <memory>
#include <numeric>

#include "check.hpp"
#include "fault_work.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/loading/batch_pipeline.hpp"
#include "graphmount/loading/rows/row_sweep.hpp"
#include "graphmount/system/disk/disk_probe.hpp"
#include "graphmount/system/files/file_descriptor.hpp"
#include "graphmount/system/memory/sealed_memory.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/table/reading/gather.hpp"
#include "graphmount/verify/verify.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

namespace graphmount::testing {
namespace {

constexpr std::uint64_t kRows = 2000, kRowBytes = 900;

/// A folder with a graph and a matrix, one row for each node.
struct Data {
  Data() {
    write_graph(graph, random_edges(3, kRows, 8000).columns(true, false), {}, {.num_nodes = kRows},
                {});
    FeatureWriter writer(matrix, {.dtype = DType::kUInt8, .rows = kRows, .columns = kRowBytes});
    Bytes row(kRowBytes);
    for (std::uint64_t i = 0; i < kRows; ++i) {
      for (std::uint64_t j = 0; j < kRowBytes; ++j)
        row[j] = static_cast<std::byte>((i * 0x9E3779B97F4A7C15U >> 40) + j * 31);
      writer.append(row);
    }
    writer.finish();
    write_bytes(probe, Bytes(1 << 18));
  }
  TemporaryFolder folder;
  std::filesystem::path graph = folder / "graph.gl", matrix = folder / "matrix.gd",
                        probe = folder / "probe";
};

struct Way {
  const char* name;
  ReaderKind kind;
  std::optional<bool> direct;
};

constexpr Way kWays[] = {
    {"mapped", ReaderKind::kMapped, std::nullopt}, {"auto", ReaderKind::kAuto, std::nullopt},
    {"direct pread", ReaderKind::kPread, true},    {"pread", ReaderKind::kPread, false},
    {"direct uring", ReaderKind::kUring, true},    {"uring", ReaderKind::kUring, false},
};

std::unique_ptr<RowReader> make_reader(const FeatureMatrix& matrix, const Way& way) {
  return make_row_reader(matrix, way.kind, {.direct = way.direct, .depth = 8});
}

/// What the machine has of the above.
std::vector<Way> ways_to_read(const FeatureMatrix& matrix) {
  std::vector<Way> ways;
  for (const Way& way : kWays) {
    try {
      make_reader(matrix, way);
      ways.push_back(way);
    } catch (const IoError&) {
      continue;
    }
  }
  return ways;
}

std::vector<std::uint64_t> some_rows(std::uint64_t step) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t row = 0; row < kRows; row += 1 + row * step % 17) rows.push_back(row);
  return rows;
}

Bytes read_rows(RowReader& reader) {
  const std::vector<std::uint64_t> rows = some_rows(3);
  Bytes out(rows.size() * kRowBytes);
  std::vector<RowRead> reads;
  for (const std::uint64_t row : rows)
    reads.push_back({row, out.data() + reads.size() * kRowBytes});
  reader.read(reads);
  return out;
}

Bytes gather_rows(const FeatureGather& gather, ReaderKind kind) {
  std::vector<std::int64_t> ids;
  for (std::uint64_t i = 0; i < 300; ++i) ids.push_back(static_cast<std::int64_t>(i * 77 % kRows));
  Bytes out(ids.size() * kRowBytes);
  gather.gather(ids, DType::kUInt8, out, kind);
  return out;
}

Bytes sweep_rows(RowSweep& sweep) {
  const auto first = some_rows(3), second = some_rows(5);
  Bytes all;
  try {
    sweep.admit(first);
    sweep.admit(second);
    for (const auto* rows : {&first, &second}) {
      const SweptRows swept = sweep.wait();
      for (std::size_t i = 0; i < rows->size(); ++i)
        all.insert(all.end(), swept.row(i), swept.row(i) + kRowBytes);
      sweep.release();
    }
  } catch (...) {
    sweep.clear();
    throw;
  }
  return all;
}

Bytes take_batches(const std::shared_ptr<const Graph>& graph,
                   const std::shared_ptr<TableFeed>& feed) {
  std::vector<NodeId> nodes(240);
  std::iota(nodes.begin(), nodes.end(), 0);
  PipelineOptions options;
  options.sample.fanouts = {3, 3};
  options.window = 4;
  const auto seeds = std::make_shared<NodeSeeds>(nodes, std::vector<std::int64_t>{}, 60);
  Bytes all;
  try {
    BatchPipeline pipeline(graph, {feed}, seeds, options);
    for (LoadedBatch batch;
         pipeline.next(batch, std::chrono::seconds(90)) == BatchPipeline::Next::kBatch;) {
      const std::byte* const rows = batch.rows[0].data();
      all.insert(all.end(), rows, rows + batch.sample.types[0].nodes->size() * kRowBytes);
    }
  } catch (...) {
    feed->abandon();
    throw;
  }
  return all;
}

std::shared_ptr<TableFeed> make_feed(const FeatureMatrix& matrix, ReaderKind kind, bool is_swept) {
  FeedOptions options;
  options.memory = 1 << 18;
  options.slot_share = 0.5;
  options.window = 4;
  options.reader = kind;
  options.trial.resize(is_swept ? 1500 : 60);
  std::iota(options.trial.begin(), options.trial.end(), 0);
  const auto feed = std::make_shared<TableFeed>(matrix, options);
  CHECK_EQUAL(feed->is_swept(), is_swept);
  return feed;
}

void require_sound(const std::filesystem::path& path) {
  const Verification found = verify_file(path, {});
  if (found.num_problems > 0) throw FormatError(path.string(), found.problems[0].message);
}

void run_probe(const std::filesystem::path& path, ProbeWay way) {
  ProbeOptions options;
  options.way = way;
  options.read_bytes = 4096;
  options.depth = 4;
  options.seconds = 0.001;
  DiskProbe(path, std::nullopt).run(options);
}

}  // namespace

std::vector<Work> reading_work() {
  const auto data = std::make_shared<Data>();
  const auto matrix = std::make_shared<FeatureMatrix>(data->matrix);
  std::vector<Work> works;
  const auto add = [&](const std::string& name, auto run) {
    works.push_back({name, run, data->folder.path()});
  };
  const auto add_check = [&](const std::string& name, auto run) {
    add(name, [run] {
      run();
      return Bytes{};
    });
  };
  add_check("opening a graph", [data] { Graph graph(data->graph); });
  const auto opened = std::make_shared<FileDescriptor>(FileDescriptor::open(data->graph, O_RDONLY));
  add_check("mapping an open file",
            [data, opened] { MappedFile::open(opened->number(), data->graph); });
  add("sharing memory", [] {
    const auto made = SealedMemory::make(5000, [](std::span<std::byte> bytes) {
      std::fill(bytes.begin(), bytes.end(), std::byte{7});
    });
    // What is not sealed is refused as an argument; here that is a fault of the system.
    try {
      const auto taken = SealedMemory::of(made->descriptor(), 5000);
      return Bytes(taken->bytes().begin(), taken->bytes().end());
    } catch (const std::invalid_argument& error) {
      throw IoError("memory", error.what(), EINVAL);
    }
  });
  add_check("verifying a graph", [data] { require_sound(data->graph); });
  add_check("verifying a matrix", [data] { require_sound(data->matrix); });
  for (const Way& way : ways_to_read(*matrix)) {
    const std::string by = std::string(" by ") + way.name;
    add("reads" + by, [data, matrix, way] { return read_rows(*make_reader(*matrix, way)); });
    const std::shared_ptr<RowReader> reader = make_reader(*matrix, way);
    add("more reads" + by, [data, matrix, reader] { return read_rows(*reader); });
    std::vector<std::unique_ptr<RowReader>> readers;
    for (int i = 0; i < 2; ++i) readers.push_back(make_reader(*matrix, way));
    const auto sweep =
        std::make_shared<RowSweep>(std::move(readers), kRows, kRowBytes, 300, 50'000);
    add("a sweep" + by, [data, matrix, sweep] { return sweep_rows(*sweep); });
  }
  constexpr std::pair<ReaderKind, const char*> kKinds[] = {{ReaderKind::kMapped, " by mapped"},
                                                           {ReaderKind::kAuto, " by auto"},
                                                           {ReaderKind::kPread, " by pread"},
                                                           {ReaderKind::kUring, " by uring"}};
  for (const auto& known : kKinds) {
    const ReaderKind kind = known.first;
    if (why_no_reader(*matrix, kind)) continue;
    const std::string by = known.second;
    const auto gather = std::make_shared<FeatureGather>(*matrix);
    add("a gather" + by, [data, matrix, gather, kind] { return gather_rows(*gather, kind); });
    for (const bool is_swept : {false, true}) {
      const std::string batches = (is_swept ? "swept batches" : "batches") + by;
      const auto graph = std::make_shared<Graph>(data->graph);
      const auto feed = make_feed(*matrix, kind, is_swept);
      add(batches, [data, matrix, graph, feed] { return take_batches(graph, feed); });
      add("all of " + batches, [data, kind, is_swept] {
        const FeatureMatrix own(data->matrix);
        return take_batches(std::make_shared<Graph>(data->graph), make_feed(own, kind, is_swept));
      });
    }
  }
  for (const ProbeWay way : {ProbeWay::kMapped, ProbeWay::kPread, ProbeWay::kUring}) {
    if (way == ProbeWay::kUring && why_no_reader(*matrix, ReaderKind::kUring)) continue;
    add_check("a probe of the disk", [data, way] { run_probe(data->probe, way); });
  }
  return works;
}

}  // namespace graphmount::testing
