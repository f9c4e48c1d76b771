// The layout of .gl, .gd and .gi files: header, section table, checksums. docs/format.md is the
// specification; a change here that moves a byte changes the version there.
//
// `read_header` checks everything about a file that can be known from its header and its size. So
// code that holds a `Header` may rely on the place and size of every section.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graphmount/base/types.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount {

inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 1;
inline constexpr std::uint64_t kHeaderBytes = 4096;
inline constexpr std::uint64_t kSectionAlignment = 64 * 1024;
inline constexpr std::uint64_t kChunkBytes = 1024 * 1024;
inline constexpr std::uint64_t kMaxSections = 59;
/// Section kinds from here on may be ignored by a reader that does not know them.
inline constexpr std::uint16_t kFirstOptionalKind = 0x8000;

enum class FileKind { kGraph, kFeatures, kNodeIds };

enum class SectionKind : std::uint16_t {
  kChecksums = 1,
  // Graphs; those with a direction occur once for each direction the file holds. Node ids may be
  // in a file of their own.
  kIndptr = 16,
  kIndices = 17,
  kWeights = 18,
  kAlias = 19,
  kEdgeIds = 20,
  kTimestamps = 21,
  kSourceRows = 22,
  kNodeIds = 32,
  kNodeNameOffsets = 33,
  kNodeNameBytes = 34,
  kNodeIdTable = 36,
  // Features.
  kMatrix = 64,
  kScales = 0x8040,
};

std::string_view section_name(SectionKind kind);

/// Bits of Header::flags.
inline constexpr std::uint64_t kFlagUndirected = 1;      // graph: one copy serves both directions
inline constexpr std::uint64_t kFlagSortedByTime = 2;    // graph: lists sorted by (time, id)
inline constexpr std::uint64_t kFlagOneDimensional = 4;  // features: a vector, not a matrix
inline constexpr std::uint64_t kFlagRectangular = 8;     // graph: sources of another node type

struct Section {
  SectionKind kind{};
  Direction direction = Direction::kNone;
  DType dtype{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 1;
  std::uint64_t first_chunk = 0;  // index of its first checksum
  std::uint64_t digest = 0;       // XXH64 of the checksum section itself; 0 elsewhere

  std::uint64_t num_chunks() const { return (bytes + kChunkBytes - 1) / kChunkBytes; }
  /// "indices", or "indices (in)".
  std::string name() const;
};

/// By offset; an empty section comes before the one it shares its place with.
void sort_by_place(std::vector<const Section*>& sections);

struct Header {
  FileKind kind = FileKind::kGraph;
  std::uint64_t flags = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t num_rows = 0;     // nodes (or destinations) of a graph, rows, ids
  std::uint64_t num_columns = 0;  // edges of a graph, columns of a matrix
  std::uint64_t order = 0;        // fingerprint of the node order; 0 is the order of the source
  std::uint64_t checksum = 0;     // as read: covers the header, and by its digest all content
  // Of the sources of a rectangular graph; those of the rows in all other files.
  std::uint64_t num_sources = 0;
  std::uint64_t source_order = 0;
  std::vector<Section> sections{};

  bool has(std::uint64_t flag) const { return (flags & flag) != 0; }
  const Section* find(SectionKind kind, Direction direction = Direction::kNone) const;
};

/// Reads and checks the header of a file of the given kind. Throws FormatError.
Header read_header(const MappedFile& file, FileKind kind);

/// What kind of file this is, by its first bytes. Throws FormatError if it is none of these.
FileKind file_kind(const MappedFile& file);

/// Gives each section its place and its first checksum, and the header the size of the file. The
/// checksum section must be the last one; its size is set here.
void lay_out(Header& header);

/// The 4 KiB that stand at the beginning of the file.
std::vector<std::byte> encode_header(const Header& header);

}  // namespace graphmount
