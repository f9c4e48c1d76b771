// Headers: a round trip, and one test for each way a header can be wrong. Unless the test is about
// the checksum, a wrong header gets a right checksum, so that the check behind it is what speaks.
#include <functional>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/format/format.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kAlign = kSectionAlignment;

Header example_header() {
  Header header{.kind = FileKind::kGraph,
                .flags = kFlagSortedByTime,
                .num_rows = 4,
                .num_columns = 300'000,
                .order = 77};
  const auto add = [&](SectionKind kind, DType dtype, std::uint64_t rows) {
    header.sections.push_back(
        {.kind = kind, .direction = Direction::kOut, .dtype = dtype, .rows = rows});
  };
  add(SectionKind::kIndptr, DType::kInt64, 5);
  add(SectionKind::kIndices, DType::kInt32, 300'000);
  add(SectionKind::kWeights, DType::kFloat32, 0);
  header.sections.push_back({.kind = SectionKind::kChecksums, .dtype = DType::kInt64});
  lay_out(header);
  return header;
}

// The example as a file; sections hold zeros.
Bytes example_bytes() {
  const Header header = example_header();
  Bytes bytes = encode_header(header);
  bytes.resize(header.file_bytes);
  return bytes;
}

Header read(const Bytes& bytes, FileKind kind = FileKind::kGraph) {
  static const TemporaryFolder folder;
  write_bytes(folder / "file", bytes);
  const auto file = MappedFile::open(folder / "file");
  return read_header(*file, kind);
}

void check_refused(const std::string& why, const std::function<void(Bytes&)>& damage) {
  Bytes bytes = example_bytes();
  damage(bytes);
  repair_header(bytes);
  CHECK_THROWS_WITH(read(bytes), FormatError, why);
}

constexpr std::uint64_t kIndptr = 0, kIndices = 1, kWeights = 2, kChecksums = 3;

}  // namespace

TEST(lays_out_aligned_sections) {
  const Header header = example_header();
  CHECK_EQUAL(header.sections[0].offset, kAlign);
  CHECK_EQUAL(header.sections[0].bytes, 40U);
  CHECK_EQUAL(header.sections[1].offset, 2 * kAlign);
  CHECK_EQUAL(header.sections[1].bytes, 1'200'000U);
  CHECK_EQUAL(header.sections[1].first_chunk, 1U);
  CHECK_EQUAL(header.sections[1].num_chunks(), 2U);
  CHECK_EQUAL(header.sections[2].offset, header.sections[3].offset);  // one of them is empty
  CHECK_EQUAL(header.sections[3].rows, 3U);
  CHECK_EQUAL(header.file_bytes % kAlign, 0U);
  CHECK(header.file_bytes >= header.sections[3].offset + header.sections[3].bytes);
}

TEST(reads_back_what_it_encodes) {
  Header header = example_header();
  header.sections[3].digest = 99;
  Bytes bytes = encode_header(header);
  CHECK_EQUAL(bytes.size(), kHeaderBytes);
  bytes.resize(header.file_bytes);
  const Header back = read(bytes);
  CHECK(back.kind == header.kind);
  CHECK_EQUAL(back.flags, header.flags);
  CHECK_EQUAL(back.file_bytes, header.file_bytes);
  CHECK_EQUAL(back.num_rows, 4U);
  CHECK_EQUAL(back.num_columns, 300'000U);
  CHECK_EQUAL(back.order, 77U);
  CHECK_EQUAL(back.sections.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Section &a = header.sections[i], &b = back.sections[i];
    CHECK(a.kind == b.kind && a.direction == b.direction && a.dtype == b.dtype);
    CHECK(a.offset == b.offset && a.bytes == b.bytes && a.rows == b.rows);
    CHECK(a.columns == b.columns && a.first_chunk == b.first_chunk && a.digest == b.digest);
  }
  CHECK(back.find(SectionKind::kIndices, Direction::kOut) == &back.sections[1]);
  CHECK(back.find(SectionKind::kIndices, Direction::kIn) == nullptr);
  CHECK(back.has(kFlagSortedByTime) && !back.has(kFlagUndirected));
}

TEST(names_sections) {
  CHECK_EQUAL(example_header().sections[1].name(), "indices (out)");
  CHECK_EQUAL(example_header().sections[3].name(), "checksums");
  CHECK_EQUAL(section_name(static_cast<SectionKind>(999)), "of another version");
}

TEST(tells_strangers_apart) {
  const auto refuse = [](const std::string& start, const std::string& why) {
    Bytes bytes(100);
    std::memcpy(bytes.data(), start.data(), start.size());
    CHECK_THROWS_WITH(read(bytes), FormatError, "not a graphmount file: " + why);
  };
  refuse("\x93NUMPY", "it is a NumPy .npy file");
  refuse("PK\x03\x04", "it is a zip archive");
  refuse("PAR1", "it is a Parquet file");
  refuse("\x1f\x8b", "it is compressed with gzip");
  refuse("\x89GMGL\n\x1a", "its first bytes are damaged");
  refuse("\x01\x02", "its first bytes are not those of one");
  CHECK_THROWS_WITH(read(Bytes(700, std::byte{'7'})), FormatError, "it looks like text");
  CHECK_THROWS_WITH(read({}), FormatError, "the file is empty");
  CHECK_THROWS_WITH(read({std::byte{0x89}}), FormatError, "not a graphmount file");
}

TEST(refuses_the_other_kind) {
  CHECK_THROWS_WITH(read(example_bytes(), FileKind::kFeatures), FormatError, "open it with Graph");
  check_refused("open it with FeatureStore", [](Bytes& bytes) { bytes[4] = std::byte{'D'}; });
}

TEST(refuses_other_versions_and_byte_orders) {
  check_refused("format version 2.0", [](Bytes& b) { put<std::uint16_t>(b, kMajorAt, 2); });
  check_refused("format version 0.0", [](Bytes& b) { put<std::uint16_t>(b, kMajorAt, 0); });
  check_refused("big-endian", [](Bytes& b) { put<std::uint32_t>(b, kEndianAt, 0x04030201); });
  check_refused("byte order mark", [](Bytes& b) { put<std::uint32_t>(b, kEndianAt, 0); });
  // A later minor version only adds what may be ignored.
  Bytes minor = example_bytes();
  put<std::uint16_t>(minor, kMajorAt + 2, 9);
  repair_header(minor);
  CHECK_EQUAL(read(minor).num_rows, 4U);
}

TEST(refuses_every_flipped_bit_of_the_header) {
  const Bytes good = example_bytes();
  for (std::uint64_t at = 0; at < kHeaderBytes; at += 7) {
    Bytes bad = good;
    bad[at] ^= static_cast<std::byte>(1 << at % 8);
    CHECK_THROWS(read(bad), FormatError);
  }
  Bytes bad = good;
  bad[kHeaderChecksumAt] ^= std::byte{1};
  CHECK_THROWS_WITH(read(bad), FormatError, "its checksum does not match");
}

TEST(refuses_a_wrong_length) {
  const Bytes good = example_bytes();
  for (const std::size_t length : {8UL, 100UL, 4095UL})
    CHECK_THROWS_WITH(read({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}),
                      FormatError, "less than the header");
  for (const std::size_t length : {4096UL, good.size() - 1})
    CHECK_THROWS_WITH(read({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}),
                      FormatError, "truncated: " + std::to_string(length));
  check_refused("too long", [](Bytes& bytes) { bytes.push_back({}); });
}

TEST(sources_have_fields_of_their_own_with_a_flag) {
  Header header = example_header();
  Bytes bytes = encode_header(header);
  bytes.resize(header.file_bytes);
  CHECK_EQUAL(get<std::uint16_t>(bytes, kMajorAt + 2), 0U);
  CHECK_EQUAL(read(bytes).num_sources, 4U);
  CHECK_EQUAL(read(bytes).source_order, 77U);
  header.flags |= kFlagRectangular;
  header.num_sources = 9;
  header.source_order = 78;
  bytes = encode_header(header);
  bytes.resize(header.file_bytes);
  CHECK_EQUAL(get<std::uint16_t>(bytes, kMajorAt + 2), 1U);
  CHECK_EQUAL(read(bytes).num_sources, 9U);
  CHECK_EQUAL(read(bytes).source_order, 78U);
  CHECK_EQUAL(read(bytes).num_rows, 4U);
  CHECK_EQUAL(read(bytes).order, 77U);
  put(bytes, 72, UINT64_MAX);
  repair_header(bytes);
  CHECK_THROWS_WITH(read(bytes), FormatError, "exceed 2^63");
}

TEST(refuses_other_sizes_and_flags) {
  const std::string sizes = "sizes that version 1 does not allow";
  check_refused(sizes, [](Bytes& b) { put<std::uint32_t>(b, kHeaderBytesAt, 8192); });
  check_refused(sizes, [](Bytes& b) { put<std::uint32_t>(b, kChunkBytesAt, 0); });
  check_refused(sizes, [](Bytes& b) { put<std::uint32_t>(b, kAlignmentAt, 4096); });
  check_refused("unknown flags", [](Bytes& b) { put<std::uint64_t>(b, kFlagsAt, 16); });
  check_refused("60 sections are more than 59",
                [](Bytes& b) { put<std::uint32_t>(b, kNumSectionsAt, 60); });
  check_refused("4294967295 sections",
                [](Bytes& b) { put<std::uint32_t>(b, kNumSectionsAt, UINT32_MAX); });
  check_refused("exceed 2^63", [](Bytes& b) { put(b, kNumRowsAt, UINT64_MAX); });
  check_refused("exceed 2^63", [](Bytes& b) { put(b, kNumColumnsAt, std::uint64_t{1} << 63); });
}

TEST(refuses_entries_that_are_wrong_by_themselves) {
  const EntryAt at(kIndices);
  check_refused("section 1 (of another version (out)) is of unknown kind 999",
                [&](Bytes& b) { put<std::uint16_t>(b, at.kind, 999); });
  check_refused("unknown kind 64", [&](Bytes& b) { put<std::uint16_t>(b, at.kind, 64); });
  check_refused("unknown kind 32767", [&](Bytes& b) { put<std::uint16_t>(b, at.kind, 0x7FFF); });
  check_refused("unknown dtype 0", [&](Bytes& b) { put<std::uint16_t>(b, at.dtype, 0); });
  check_refused("unknown dtype 11", [&](Bytes& b) { put<std::uint16_t>(b, at.dtype, 11); });
  check_refused("unknown direction 3", [&](Bytes& b) { put<std::uint16_t>(b, at.direction, 3); });
  check_refused("reserved bits", [&](Bytes& b) { put<std::uint16_t>(b, at.reserved0, 1); });
  check_refused("reserved bits", [&](Bytes& b) { put<std::uint64_t>(b, at.reserved1, 1); });
}

TEST(refuses_sizes_that_do_not_multiply) {
  const EntryAt at(kIndices);
  check_refused("which is not 299999 x 1 of int32",
                [&](Bytes& b) { put<std::uint64_t>(b, at.rows, 299'999); });
  check_refused("which is not 300000 x 2", [&](Bytes& b) { put<std::uint64_t>(b, at.columns, 2); });
  check_refused("which is not", [&](Bytes& b) { put<std::uint16_t>(b, at.dtype, 8); });
  // Products that come out right modulo 2^64.
  check_refused("which is not",
                [&](Bytes& b) { put(b, at.rows, (std::uint64_t{1} << 62) + 300'000); });
  check_refused("which is not", [&](Bytes& b) {
    put(b, at.rows, std::uint64_t{1} << 32);
    put(b, at.columns, std::uint64_t{1} << 32);
    put<std::uint64_t>(b, at.bytes, 0);
  });
}

TEST(refuses_places_outside_the_file) {
  const EntryAt at(kIndices);
  const std::string misplaced = "not a multiple of 64 KiB";
  check_refused(misplaced, [&](Bytes& b) { put<std::uint64_t>(b, at.offset, kAlign + 4096); });
  check_refused(misplaced, [&](Bytes& b) { put<std::uint64_t>(b, at.offset, 0); });
  check_refused("beyond the end of the file",
                [&](Bytes& b) { put<std::uint64_t>(b, at.offset, 100 * kAlign); });
  check_refused("2^64 and more", [&](Bytes& b) { put(b, at.offset, UINT64_MAX - kAlign + 1); });
  check_refused("beyond the end of the file", [&](Bytes& b) {
    put<std::uint64_t>(b, EntryAt(kWeights).offset, 1000 * kAlign);  // even if it is empty
  });
}

TEST(refuses_tables_that_contradict_themselves) {
  check_refused("sections indptr (out) and indices (out) overlap",
                [](Bytes& b) { put(b, EntryAt(kIndices).offset, kAlign); });
  check_refused("overlap", [](Bytes& b) { put(b, EntryAt(kChecksums).offset, 5 * kAlign); });
  check_refused("overlap", [](Bytes& b) { put(b, EntryAt(kWeights).offset, 5 * kAlign); });
  check_refused("two sections are indptr (out)", [](Bytes& b) {
    const EntryAt at(kWeights);
    put<std::uint16_t>(b, at.kind, 16);
  });
  check_refused("are not where they belong",
                [](Bytes& b) { put<std::uint64_t>(b, EntryAt(kIndices).first_chunk, 0); });
}

TEST(refuses_missing_or_miscounted_checksums) {
  check_refused("there is no section of checksums",
                [](Bytes& b) { put<std::uint32_t>(b, kNumSectionsAt, 3); });
  check_refused("there is no section of checksums",
                [](Bytes& b) { put<std::uint16_t>(b, EntryAt(kChecksums).direction, 1); });
  const EntryAt at(kChecksums);
  check_refused("there are 2 checksums for 3 chunks", [&](Bytes& b) {
    put<std::uint64_t>(b, at.rows, 2);
    put<std::uint64_t>(b, at.bytes, 16);
  });
  check_refused("there are 6 checksums for 3 chunks", [&](Bytes& b) {
    put<std::uint16_t>(b, at.dtype, static_cast<std::uint16_t>(DType::kInt32));
    put<std::uint64_t>(b, at.rows, 6);
  });
  check_refused("there is no section of checksums",
                [](Bytes& b) { put<std::uint32_t>(b, kNumSectionsAt, 0); });
}

TEST(ignores_optional_kinds_but_not_their_place) {
  const EntryAt at(kWeights);
  const auto make_optional = [&](Bytes& bytes) {
    put<std::uint16_t>(bytes, at.kind, kFirstOptionalKind);
    put<std::uint16_t>(bytes, at.dtype, 777);
    put<std::uint64_t>(bytes, at.rows, 123);
  };
  Bytes bytes = example_bytes();
  make_optional(bytes);
  repair_header(bytes);
  CHECK_EQUAL(read(bytes).sections.size(), 4U);
  check_refused("not a multiple of 64 KiB", [&](Bytes& b) {
    make_optional(b);
    put<std::uint64_t>(b, at.offset, 1);
  });
  check_refused("beyond the end", [&](Bytes& b) {
    make_optional(b);
    put(b, at.bytes, UINT64_MAX);
  });
}

TEST(empty_sections_may_share_their_place_however_many_there_are) {
  // More than a sort of few elements, which is stable by chance, would keep in order.
  Header header = example_header();
  header.sections.clear();
  for (std::uint16_t i = 0; i < 50; ++i)
    header.sections.push_back({.kind = static_cast<SectionKind>(kFirstOptionalKind + i),
                               .dtype = DType::kInt64,
                               .rows = i % 5 == 4 ? 10U : 0U});
  header.sections.push_back({.kind = SectionKind::kChecksums, .dtype = DType::kInt64});
  lay_out(header);
  Bytes bytes = encode_header(header);
  bytes.resize(header.file_bytes);
  CHECK_EQUAL(read(bytes).sections.size(), 51U);
}
