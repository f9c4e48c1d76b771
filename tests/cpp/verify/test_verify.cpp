// Verification: finds nothing in good files (see also the round trips), and names the section of
// whatever is wrong, whether or not the checksums have been made to fit.
#include <chrono>
#include <random>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/graph/graph.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/table/feature_matrix.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "graphmount/verify/verify.hpp"
#include "random_edges.hpp"
#include "temporary_folder.hpp"
#include "write_graph.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

class Example {
 public:
  explicit Example(bool undirected = false, bool with_names = true) {
    const Edges edges = random_edges(2, 40, 300);
    const Names names(some_names(40));
    ExternalIds ids;
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < 40; ++i) numbers.push_back(1000 - 7 * i);
    if (with_names)
      ids.names = names;
    else
      ids.numbers = numbers;
    write_graph(path(), edges.columns(true, true), ids,
                {.num_nodes = 40, .undirected = undirected, .keep_source_rows = true}, {});
    good_ = read_bytes(path());
    header_ = Graph(path()).mount().header();
  }

  std::filesystem::path path() const { return folder_ / "graph.gl"; }
  const Bytes& good() const { return good_; }
  const Header& header() const { return header_; }
  const Section& section(SectionKind kind, Direction direction = Direction::kNone) const {
    return *header_.find(kind, direction);
  }

  Verification verify(const Bytes& bytes) const {
    write_bytes(path(), bytes);
    return verify_file(path(), {});
  }
  /// Writes a value into a section, makes the checksums right, and verifies.
  Verification verify_with(const Section& section, std::uint64_t at, auto value) const {
    Bytes bytes = good_;
    put(bytes, section.offset + at, value);
    repair_checksums(bytes);
    return verify(bytes);
  }

 private:
  TemporaryFolder folder_;
  Bytes good_;
  Header header_;
};

std::string sections_of(const Verification& verification) {
  std::string names;
  for (const Problem& problem : verification.problems)
    names += problem.section + ": " + problem.message + "\n";
  return names;
}

void check_names(const Verification& verification, const std::string& section) {
  CHECK(verification.num_problems > 0);
  if (sections_of(verification).find(section) == std::string::npos)
    FAIL("no problem in " + section + " but\n" + sections_of(verification));
}

}  // namespace

TEST(repairing_a_good_file_changes_nothing) {
  const Example example;
  Bytes bytes = example.good();
  repair_checksums(bytes);
  CHECK(bytes == example.good());
  CHECK_EQUAL(example.verify(bytes).num_problems, 0U);
}

TEST(checksums_find_a_flipped_bit_in_any_section) {
  const Example example;
  std::mt19937_64 random(3);
  for (const Section& section : example.header().sections) {
    for (int round = 0; round < 8; ++round) {
      Bytes bytes = example.good();
      const std::uint64_t at = section.offset + random() % section.bytes;
      bytes[at] ^= static_cast<std::byte>(1U << random() % 8);
      const Verification verification = example.verify(bytes);
      check_names(verification, section.name() + ": the ");
      CHECK(verification.problems.front().offset < example.good().size());
    }
  }
}

TEST(padding_must_be_zero) {
  const Example example;
  for (const Section& section : example.header().sections) {
    Bytes bytes = example.good();
    bytes[section.offset + section.bytes + 5] = std::byte{1};
    const Verification verification = example.verify(bytes);
    CHECK_EQUAL(sections_of(verification), "padding: a byte between two sections is not 0\n");
    CHECK_EQUAL(verification.problems[0].offset, section.offset + section.bytes + 5);
  }
  Bytes bytes = example.good();
  bytes[kHeaderBytes] = std::byte{1};
  check_names(example.verify(bytes), "padding");
}

TEST(rules_find_what_checksums_cannot) {
  const Example example;
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    const auto check = [&](SectionKind kind, std::uint64_t at, auto value,
                           const std::string& problem) {
      const Section& section = example.section(kind, direction);
      check_names(example.verify_with(section, at, value), section.name() + ": " + problem);
    };
    check(SectionKind::kIndptr, 0, std::int64_t{1}, "the first offset is 1");
    check(SectionKind::kIndptr, 8 * 40, std::int64_t{299}, "the last offset is 299");
    check(SectionKind::kIndptr, 8 * 7, std::int64_t{-4}, "the list of node 6 begins at");
    check(SectionKind::kIndptr, 8 * 7, INT64_MAX, "the list of node 7 begins at");
    check(SectionKind::kIndices, 4 * 9, -1, "at position 9: neighbor -1");
    check(SectionKind::kIndices, 4 * 9, 40, "at position 9: neighbor 40");
    check(SectionKind::kWeights, 4 * 9, -1.0F, "at position 9: weight -1");
    check(SectionKind::kWeights, 4 * 9, NAN, "at position 9: weight");
    check(SectionKind::kAlias, 8 * 9, UINT64_MAX, "the table of node");
    check(SectionKind::kAlias, 8 * 9, std::uint64_t{0}, "the table of node");
  }
  const Section& rows = example.section(SectionKind::kSourceRows, Direction::kIn);
  check_names(example.verify_with(rows, 0, -2), "source rows (in): at position 0: source row -2");
  const Section& ids = example.section(SectionKind::kEdgeIds, Direction::kOut);
  check_names(example.verify_with(ids, 4, 300), "edge ids (out): at position 1: edge id 300");
}

TEST(rules_find_one_changed_item_in_any_section) {
  const Example example;
  // The neighbor, time or weight of one edge in one direction, by one step each: still in range, so
  // only the other direction or the order gives it away. (Source rows are free, names nearly so,
  // and an entry of the alias table may be changed without changing what it means.)
  for (const Section& section : example.header().sections) {
    if (section.kind == SectionKind::kChecksums || section.kind == SectionKind::kSourceRows ||
        section.kind == SectionKind::kNodeNameOffsets ||
        section.kind == SectionKind::kNodeNameBytes || section.kind == SectionKind::kAlias)
      continue;
    const std::uint64_t item = traits_of(section.dtype).item_bytes;
    for (std::uint64_t place = 1; place < section.rows; place += 1 + section.rows / 15) {
      Bytes bytes = example.good();
      bytes[section.offset + place * item] ^= std::byte{1};
      repair_checksums(bytes);
      if (example.verify(bytes).num_problems == 0)
        FAIL("item " + std::to_string(place) + " of " + section.name());
    }
  }
}

TEST(rules_find_half_an_undirected_edge) {
  const Example example(true);
  const Section& indices = example.section(SectionKind::kIndices, Direction::kIn);
  const Section& times = example.section(SectionKind::kTimestamps, Direction::kIn);
  for (std::uint64_t place = 0; place < indices.rows; place += 20) {
    const auto old = get<std::int32_t>(example.good(), indices.offset + place * 4);
    check_names(example.verify_with(indices, place * 4, old == 0 ? 1 : old - 1), "indices (in)");
    const auto time = get<std::int64_t>(example.good(), times.offset + place * 8);
    check_names(example.verify_with(times, place * 8, time + 1), "indices (in)");
  }
}

TEST(rules_of_external_ids) {
  const Example example;
  const auto check = [&](SectionKind kind, std::uint64_t at, auto value, const std::string& why) {
    check_names(example.verify_with(example.section(kind), at, value), why);
  };
  check(SectionKind::kNodeNameOffsets, 0, std::int64_t{1}, "offset 1 of name 0 is out of order");
  check(SectionKind::kNodeNameOffsets, 16, std::int64_t{-1}, "of name 2 is out of order");
  check(SectionKind::kNodeNameOffsets, 16, INT64_MAX, "of name 2 is out of order");
  check(SectionKind::kNodeNameBytes, 2, '\xFF', "the name of node 0 is not valid UTF-8");
  check(SectionKind::kNodeNameBytes, 0, 'z', "leads here, but not on to the node");
  check(SectionKind::kNodeIdTable, 8, 40, "node 40 does not exist");
  check(SectionKind::kNodeIdTable, 8, -2, "node -2 does not exist");
  const Example with_numbers(false, false);
  check_names(with_numbers.verify_with(with_numbers.section(SectionKind::kNodeIds), 8,
                                       std::int64_t{999'999}),
              "leads here, but not on to the node");
}

TEST(utf8_is_told_from_what_only_looks_like_it) {
  const TemporaryFolder folder;
  const auto problems_of = [&](const std::string& name) {
    const std::vector<NodeId> none;
    write_graph(folder / "g.gl", {none, none, std::nullopt, std::nullopt}, {{}, Names({name})}, {},
                {});
    return verify_file(folder / "g.gl", {}).num_problems;
  };
  for (const char* good : {"a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                           "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    CHECK_EQUAL(problems_of(good), 0U);
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x20", "\xE0\x9F\xBF",
                          "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                          "\xF5\x80\x80\x80", "\xFF", "a\xE2\x82"})
    CHECK_EQUAL(problems_of(bad), 1U);
}

TEST(a_damaged_header_is_one_problem) {
  const Example example;
  Bytes bytes = example.good();
  bytes[300] ^= std::byte{1};
  Verification verification = example.verify(bytes);
  CHECK_EQUAL(sections_of(verification),
              "header: the header is damaged: its checksum does not match\n");
  bytes = example.good();
  bytes.resize(bytes.size() - 1);
  check_names(example.verify(bytes), "header: truncated");
  CHECK_THROWS_WITH(example.verify(Bytes(10)), FormatError, "not a graphmount file");
  CHECK_THROWS(example.verify({}), FormatError);
  CHECK_THROWS(verify_file(example.path().string() + "x", {}), IoError);
}

TEST(optional_sections_have_checksums_too) {
  const TemporaryFolder folder;
  FormatWriter writer(
      folder / "x.gd",
      {.kind = FileKind::kFeatures,
       .num_rows = 2,
       .num_columns = 1,
       .sections = {
           {.kind = SectionKind::kMatrix, .dtype = DType::kUInt8, .rows = 2},
           {.kind = static_cast<SectionKind>(0x8001), .dtype = DType::kUInt8, .rows = 3}}});
  writer.write(0, 0, Bytes(2));
  writer.write(1, 0, Bytes(3));
  writer.finish();
  CHECK_EQUAL(verify_file(folder / "x.gd", {}).num_problems, 0U);
  Bytes bytes = read_bytes(folder / "x.gd");
  put<std::uint16_t>(bytes, EntryAt(1).dtype, 999);  // nobody needs to know
  repair_header(bytes);
  write_bytes(folder / "x.gd", bytes);
  CHECK_EQUAL(verify_file(folder / "x.gd", {}).num_problems, 0U);
  bytes[writer.header().sections[1].offset + 1] = std::byte{1};
  write_bytes(folder / "x.gd", bytes);
  check_names(verify_file(folder / "x.gd", {}), "of another version: the checksum of chunk 0");
}

TEST(bools_are_zero_or_one) {
  const TemporaryFolder folder;
  FeatureWriter writer(folder / "x.gd", {.dtype = DType::kBool, .rows = 3'000'000});
  Bytes cells(3'000'000, std::byte{1});
  cells[2'500'000] = std::byte{2};
  writer.append(cells);
  writer.finish();
  const Verification verification = verify_file(folder / "x.gd", {});
  CHECK_EQUAL(sections_of(verification), "matrix: a bool is neither 0 nor 1 but 2\n");
  CHECK_EQUAL(verification.problems[0].offset, 65'536U + 2'500'000U);
}

TEST(scales_are_checked) {
  const TemporaryFolder folder;
  const auto path = folder / "x.gd";
  FeatureWriter writer(path, {.dtype = DType::kInt8, .rows = 1, .columns = 3, .scales = {1, 2, 3}});
  writer.append(Bytes(3));
  writer.finish();
  Bytes bytes = read_bytes(path);
  const Section scales = *FeatureMatrix(path).scales();
  put(bytes, scales.offset + 4, -1.0F);
  write_bytes(path, bytes);
  check_names(verify_file(path, {}), "scales: the checksum of chunk 0");
  check_names(verify_file(path, {}), "scales: a scale is -1.000000, which is not a finite number");
}

TEST(lists_a_hundred_problems_and_counts_all) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kChunks = 250;
  FeatureWriter writer(folder / "x.gd", {.dtype = DType::kUInt8, .rows = kChunks * kChunkBytes});
  const Bytes chunk(kChunkBytes);
  for (std::uint64_t i = 0; i < kChunks; ++i) writer.append(chunk);
  writer.finish();
  Bytes bytes = read_bytes(folder / "x.gd");
  for (std::uint64_t i = 0; i < kChunks; ++i) bytes[65'536 + i * kChunkBytes + 9] = std::byte{1};
  write_bytes(folder / "x.gd", bytes);
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    const Verification verification = verify_file(folder / "x.gd", {});
    CHECK_EQUAL(verification.num_problems, kChunks);
    CHECK_EQUAL(verification.problems.size(), 100U);
    for (std::size_t i = 0; i < 100; ++i)
      CHECK_EQUAL(verification.problems[i].offset, 65'536 + i * kChunkBytes);
  }
}

TEST(a_flaw_in_a_graph_with_a_hub_is_found_soon) {
  Edges edges;
  constexpr std::int64_t kLeaves = 200'000;
  for (std::int64_t leaf = 1; leaf <= kLeaves; ++leaf) edges.add(0, leaf);
  const TemporaryFolder folder;
  write_graph(folder / "star.gl", edges.columns(true), {},
              {.num_nodes = kLeaves + 1, .undirected = true}, {});
  const Header header = Graph(folder / "star.gl").mount().header();
  Bytes bytes = read_bytes(folder / "star.gl");
  put(bytes, header.find(SectionKind::kWeights, Direction::kIn)->offset + 4 * (kLeaves + 5), 2.0F);
  write_bytes(folder / "star.gl", bytes);
  const auto start = std::chrono::steady_clock::now();
  check_names(verify_file(folder / "star.gl", {}), "weights (in): the checksum");
  repair_checksums(bytes);
  write_bytes(folder / "star.gl", bytes);
  check_names(verify_file(folder / "star.gl", {}), "(in)");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST(tells_its_progress_and_may_be_stopped) {
  const Example example;
  std::uint64_t last = 0, total = 0;
  verify_file(example.path(), [&](std::uint64_t done, std::uint64_t all) {
    CHECK(done >= last && done <= all);
    last = done;
    total = all;
  });
  CHECK(total > 0);
  CHECK_EQUAL(last, total);
  const Progress stop = [](std::uint64_t, std::uint64_t) { throw std::domain_error("enough"); };
  CHECK_THROWS(verify_file(example.path(), stop), std::domain_error);
}
