#include "graphmount/format/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/format/foreign_file.hpp"

static_assert(std::endian::native == std::endian::little,
              "graphmount maps little-endian files as they are, so it needs such a machine");

namespace graphmount {
namespace {

using Magic = std::array<unsigned char, 8>;
constexpr Magic kGraphMagic = {0x89, 'G', 'M', 'G', 'L', '\r', '\n', 0x1a};
constexpr Magic kFeaturesMagic = {0x89, 'G', 'M', 'G', 'D', '\r', '\n', 0x1a};
constexpr Magic kNodeIdsMagic = {0x89, 'G', 'M', 'G', 'I', '\r', '\n', 0x1a};
constexpr std::uint32_t kEndianMark = 0x01020304;
constexpr std::uint32_t kSwappedEndianMark = 0x04030201;
constexpr std::uint64_t kKnownFlags =
    kFlagUndirected | kFlagSortedByTime | kFlagOneDimensional | kFlagRectangular;

// The header as it lies in the file. Natural alignment leaves no holes, so it can be copied whole.
struct RawHeader {
  Magic magic;
  std::uint32_t endian_mark;
  std::uint16_t major_version;
  std::uint16_t minor_version;
  std::uint32_t header_bytes;
  std::uint32_t num_sections;
  std::uint64_t file_bytes;
  std::uint64_t flags;
  std::uint64_t num_rows;
  std::uint64_t num_columns;
  std::uint64_t order;
  std::uint32_t chunk_bytes;
  std::uint32_t section_alignment;
  std::uint64_t num_sources;  // these two with kFlagRectangular only
  std::uint64_t source_order;
  std::array<std::uint8_t, 168> reserved;
};
static_assert(sizeof(RawHeader) == 256);

struct RawSection {
  std::uint16_t kind;
  std::uint16_t direction;
  std::uint16_t dtype;
  std::uint16_t reserved0;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t first_chunk;
  std::uint64_t digest;
  std::uint64_t reserved1;
};
static_assert(sizeof(RawSection) == 64);

struct RawFile {
  RawHeader header;
  std::array<RawSection, kMaxSections> sections;
  std::array<std::uint8_t, 56> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(RawFile) == kHeaderBytes);

struct KindName {
  SectionKind kind;
  std::string_view name;
  FileKind file;
};
constexpr KindName kKindNames[] = {
    {SectionKind::kIndptr, "indptr", FileKind::kGraph},
    {SectionKind::kIndices, "indices", FileKind::kGraph},
    {SectionKind::kWeights, "weights", FileKind::kGraph},
    {SectionKind::kAlias, "alias table", FileKind::kGraph},
    {SectionKind::kEdgeIds, "edge ids", FileKind::kGraph},
    {SectionKind::kTimestamps, "timestamps", FileKind::kGraph},
    {SectionKind::kSourceRows, "source rows", FileKind::kGraph},
    {SectionKind::kNodeIds, "node ids", FileKind::kGraph},
    {SectionKind::kNodeNameOffsets, "node name offsets", FileKind::kGraph},
    {SectionKind::kNodeNameBytes, "node name bytes", FileKind::kGraph},
    {SectionKind::kNodeIdTable, "node id table", FileKind::kGraph},
    {SectionKind::kMatrix, "matrix", FileKind::kFeatures},
    {SectionKind::kScales, "scales", FileKind::kFeatures},
};

bool is_known(std::uint16_t kind, FileKind file) {
  if (kind == static_cast<std::uint16_t>(SectionKind::kChecksums)) return true;
  const bool is_id = kind >= static_cast<std::uint16_t>(SectionKind::kNodeIds) &&
                     kind <= static_cast<std::uint16_t>(SectionKind::kNodeIdTable);
  if (file == FileKind::kNodeIds && !is_id) return false;
  const FileKind listed = file == FileKind::kNodeIds ? FileKind::kGraph : file;
  return std::any_of(std::begin(kKindNames), std::end(kKindNames), [&](const KindName& known) {
    return static_cast<std::uint16_t>(known.kind) == kind && known.file == listed;
  });
}

// What is wrong with one entry of the section table by itself; empty if nothing is.
std::string problem_with(const RawSection& raw, FileKind kind, std::uint64_t file_bytes) {
  const DTypeTraits* dtype = find_dtype(raw.dtype);
  if (raw.kind >= kFirstOptionalKind) {
    // Ours to ignore, but it must not lie where another section does, so its place is checked.
  } else if (!is_known(raw.kind, kind)) {
    return say("is of unknown kind ", raw.kind,
               ", so the file needs a newer version of graphmount");
  } else if (dtype == nullptr) {
    return say("has the unknown dtype ", raw.dtype);
  } else {
    const auto cells = checked_multiply(raw.rows, raw.columns);
    const auto bytes = cells ? checked_multiply(*cells, dtype->item_bytes) : std::nullopt;
    if (!bytes || *bytes != raw.bytes)
      return say("has ", raw.bytes, " bytes, which is not ", raw.rows, " x ", raw.columns, " of ",
                 dtype->name);
  }
  if (raw.direction > 2) return say("has the unknown direction ", raw.direction);
  if (raw.reserved0 != 0 || raw.reserved1 != 0) return "has reserved bits set";
  if (raw.offset % kSectionAlignment != 0 || raw.offset < kSectionAlignment)
    return say("begins at ", raw.offset, ", which is not a multiple of 64 KiB");
  const auto end = checked_add(raw.offset, raw.bytes);
  if (!end || *end > file_bytes)
    return say("ends at byte ", end ? std::to_string(*end) : "2^64 and more",
               ", beyond the end of the file at ", file_bytes);
  return "";
}

// Rules that need more than one entry: no twins, no overlaps, a checksum for every chunk.
void check_table(const std::string& path, const Header& header) {
  std::vector<const Section*> by_offset;
  for (const Section& section : header.sections) {
    for (const Section* other : by_offset) {
      if (other->kind == section.kind && other->direction == section.direction)
        throw FormatError(path, "two sections are " + section.name());
    }
    by_offset.push_back(&section);
  }
  sort_by_place(by_offset);
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    const Section &before = *by_offset[i - 1], &after = *by_offset[i];
    if (before.offset + before.bytes > after.offset)
      throw FormatError(path, "sections " + before.name() + " and " + after.name() + " overlap");
  }
  const Section* checksums = header.find(SectionKind::kChecksums);
  if (checksums == nullptr) throw FormatError(path, "there is no section of checksums");
  std::uint64_t chunks = 0;
  for (const Section& section : header.sections) {
    if (&section == checksums) continue;
    if (section.first_chunk != chunks)
      throw FormatError(
          path, "the checksums of section " + section.name() + " are not where they belong");
    chunks += section.num_chunks();
  }
  if (checksums->dtype != DType::kInt64 || checksums->columns != 1 || checksums->rows != chunks)
    throw FormatError(path,
                      say("there are ", checksums->rows, " checksums for ", chunks, " chunks"));
}

}  // namespace

std::string_view section_name(SectionKind kind) {
  if (kind == SectionKind::kChecksums) return "checksums";
  for (const KindName& known : kKindNames)
    if (known.kind == kind) return known.name;
  return "of another version";
}

std::string Section::name() const {
  std::string text(section_name(kind));
  if (direction != Direction::kNone) text += " (" + std::string(direction_name(direction)) + ")";
  return text;
}

void sort_by_place(std::vector<const Section*>& sections) {
  std::sort(sections.begin(), sections.end(), [](const Section* a, const Section* b) {
    return std::tie(a->offset, a->bytes) < std::tie(b->offset, b->bytes);
  });
}

const Section* Header::find(SectionKind kind_wanted, Direction direction) const {
  for (const Section& section : sections)
    if (section.kind == kind_wanted && section.direction == direction) return &section;
  return nullptr;
}

namespace {

// The kind of file that begins with these bytes.
FileKind kind_of(const std::string& path, std::span<const std::byte> start) {
  if (start.empty()) throw FormatError(path, "the file is empty");
  Magic magic{};
  std::memcpy(magic.data(), start.data(), std::min(magic.size(), start.size()));
  if (magic == kGraphMagic) return FileKind::kGraph;
  if (magic == kFeaturesMagic) return FileKind::kFeatures;
  if (magic == kNodeIdsMagic) return FileKind::kNodeIds;
  throw FormatError(
      path, "not a graphmount file: " +
                describe_foreign_file(start.first(std::min<std::size_t>(512, start.size()))));
}

std::string wrong_kind(FileKind found, FileKind wanted) {
  const std::string what = wanted == FileKind::kGraph      ? "a graph"
                           : wanted == FileKind::kFeatures ? "features"
                                                           : "ids of nodes";
  switch (found) {
    case FileKind::kGraph:
      return "this is a graph file (.gl), not " + what + "; open it with Graph";
    case FileKind::kFeatures:
      return "this is a feature file (.gd), not " + what + "; open it with FeatureStore";
    case FileKind::kNodeIds:
      break;
  }
  return "this is a file of node ids (.gi), not " + what + "; open its folder with Dataset";
}

const Magic& magic_of(FileKind kind) {
  return kind == FileKind::kGraph      ? kGraphMagic
         : kind == FileKind::kFeatures ? kFeaturesMagic
                                       : kNodeIdsMagic;
}

}  // namespace

FileKind file_kind(const MappedFile& file) {
  std::array<std::byte, 512> start;
  return kind_of(file.path(), std::span(start).first(file.read_start(start)));
}

Header read_header(const MappedFile& file, FileKind kind) {
  const std::string& path = file.path();
  RawFile raw;
  const auto writable_bytes = std::as_writable_bytes(std::span(&raw, 1));
  const std::size_t size = file.read_start(writable_bytes);
  if (const FileKind found = kind_of(path, writable_bytes.first(size)); found != kind)
    throw FormatError(path, wrong_kind(found, kind));
  if (size < kHeaderBytes)
    throw FormatError(path, say("truncated: ", size, " bytes are less than the header of 4096"));
  const RawHeader& head = raw.header;
  if (head.endian_mark == kSwappedEndianMark)
    throw FormatError(path, "written in big-endian byte order; compile it again on this machine");
  if (head.endian_mark != kEndianMark) throw FormatError(path, "the byte order mark is damaged");
  if (head.major_version != kMajorVersion) {
    throw FormatError(path,
                      say("format version ", head.major_version, ".", head.minor_version,
                          "; this graphmount reads version ", kMajorVersion, ".", kMinorVersion,
                          ": compile the file again, or use another version of graphmount"));
  }
  const auto raw_bytes = std::as_bytes(std::span(&raw, 1));
  if (xxh64(raw_bytes.first(kHeaderBytes - sizeof raw.checksum)) != raw.checksum)
    throw FormatError(path, "the header is damaged: its checksum does not match");
  // From here on, a violation means a writer other than ours, or a forged checksum.
  if (head.header_bytes != kHeaderBytes || head.chunk_bytes != kChunkBytes ||
      head.section_alignment != kSectionAlignment)
    throw FormatError(path, "the header has sizes that version 1 does not allow");
  if ((head.flags & ~kKnownFlags) != 0)
    throw FormatError(path, "the header has unknown flags; the file needs a newer graphmount");
  if (head.file_bytes != file.size()) {
    throw FormatError(path, say((file.size() < head.file_bytes ? "truncated: " : "too long: "),
                                file.size(), " bytes instead of ", head.file_bytes));
  }
  if (head.num_sections > kMaxSections)
    throw FormatError(path, say(head.num_sections, " sections are more than ", kMaxSections));
  const bool is_rectangular = (head.flags & kFlagRectangular) != 0;
  if (head.num_rows > INT64_MAX || head.num_columns > INT64_MAX ||
      (is_rectangular && head.num_sources > INT64_MAX))
    throw FormatError(path, "the counts in the header exceed 2^63");
  Header header{.kind = kind,
                .flags = head.flags,
                .file_bytes = head.file_bytes,
                .num_rows = head.num_rows,
                .num_columns = head.num_columns,
                .order = head.order,
                .checksum = raw.checksum,
                .num_sources = is_rectangular ? head.num_sources : head.num_rows,
                .source_order = is_rectangular ? head.source_order : head.order};
  for (std::uint32_t i = 0; i < head.num_sections; ++i) {
    const RawSection& entry = raw.sections[i];
    Section section{static_cast<SectionKind>(entry.kind),
                    static_cast<Direction>(entry.direction),
                    static_cast<DType>(entry.dtype),
                    entry.offset,
                    entry.bytes,
                    entry.rows,
                    entry.columns,
                    entry.first_chunk,
                    entry.digest};
    const std::string problem = problem_with(entry, kind, head.file_bytes);
    if (!problem.empty())
      throw FormatError(path, say("section ", i, " (", section.name(), ") ", problem));
    header.sections.push_back(section);
  }
  check_table(path, header);
  return header;
}

void lay_out(Header& header) {
  std::uint64_t offset = kSectionAlignment, chunks = 0;
  for (Section& section : header.sections) {
    if (section.kind == SectionKind::kChecksums) {
      section.rows = chunks;
    } else {
      section.first_chunk = chunks;
    }
    section.bytes = section.rows * section.columns * traits_of(section.dtype).item_bytes;
    section.offset = offset;
    offset = round_up(offset + section.bytes, kSectionAlignment);
    chunks += section.num_chunks();
  }
  header.file_bytes = offset;
}

std::vector<std::byte> encode_header(const Header& header) {
  RawFile raw{};
  // What older versions can read is marked as theirs, and has the bytes that they would write.
  const bool is_rectangular = header.has(kFlagRectangular);
  const bool is_new = is_rectangular || header.kind == FileKind::kNodeIds;
  raw.header = {magic_of(header.kind),
                kEndianMark,
                kMajorVersion,
                is_new ? kMinorVersion : std::uint16_t{0},
                kHeaderBytes,
                static_cast<std::uint32_t>(header.sections.size()),
                header.file_bytes,
                header.flags,
                header.num_rows,
                header.num_columns,
                header.order,
                kChunkBytes,
                kSectionAlignment,
                is_rectangular ? header.num_sources : 0,
                is_rectangular ? header.source_order : 0,
                {}};
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    const Section& section = header.sections[i];
    raw.sections[i] = {static_cast<std::uint16_t>(section.kind),
                       static_cast<std::uint16_t>(section.direction),
                       static_cast<std::uint16_t>(section.dtype),
                       0,
                       section.offset,
                       section.bytes,
                       section.rows,
                       section.columns,
                       section.first_chunk,
                       section.digest,
                       0};
  }
  const auto bytes = std::as_bytes(std::span(&raw, 1));
  raw.checksum = xxh64(bytes.first(kHeaderBytes - sizeof raw.checksum));
  return {bytes.begin(), bytes.end()};
}

}  // namespace graphmount
