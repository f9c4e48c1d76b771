// Files changed byte by byte, with the checksums made right again, so that what is behind them is
// put to the test. The places of the fields are those of docs/format.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "graphmount/base/checksum.hpp"
#include "graphmount/format/format.hpp"

namespace graphmount::testing {

using Bytes = std::vector<std::byte>;

inline Bytes read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + path.string());
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  write_bytes(path, std::as_bytes(std::span(text)));
}

template <class Value>
Value get(const Bytes& bytes, std::uint64_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class Value>
void put(Bytes& bytes, std::uint64_t offset, Value value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// Offsets of header fields, and of those of entry number `index` of the section table.
inline constexpr std::uint64_t kEndianAt = 8, kMajorAt = 12, kHeaderBytesAt = 16,
                               kNumSectionsAt = 20, kFileBytesAt = 24, kFlagsAt = 32,
                               kNumRowsAt = 40, kNumColumnsAt = 48, kChunkBytesAt = 64,
                               kAlignmentAt = 68, kHeaderChecksumAt = kHeaderBytes - 8;
struct EntryAt {
  explicit EntryAt(std::uint64_t index) : begin(256 + 64 * index) {}
  std::uint64_t begin;
  std::uint64_t kind = begin, direction = begin + 2, dtype = begin + 4, reserved0 = begin + 6,
                offset = begin + 8, bytes = begin + 16, rows = begin + 24, columns = begin + 32,
                first_chunk = begin + 40, digest = begin + 48, reserved1 = begin + 56;
};

inline void repair_header(Bytes& bytes) {
  if (bytes.size() < kHeaderBytes) return;
  put(bytes, kHeaderChecksumAt, xxh64(std::span(bytes).first(kHeaderChecksumAt)));
}

/// Makes the checksums of all chunks right, as far as the section table makes sense, and then those
/// of the table of checksums and of the header.
inline void repair_checksums(Bytes& bytes) {
  if (bytes.size() < kHeaderBytes) return;
  const auto count = std::min<std::uint64_t>(get<std::uint32_t>(bytes, kNumSectionsAt), 59);
  const auto is_inside = [&](std::uint64_t offset, std::uint64_t length) {
    return offset <= bytes.size() && length <= bytes.size() - offset;
  };
  const auto is_checksums = [&](const EntryAt& at) {
    return get<std::uint16_t>(bytes, at.kind) == 1 && get<std::uint16_t>(bytes, at.direction) == 0;
  };
  std::optional<EntryAt> table;
  for (std::uint64_t i = 0; i < count; ++i)
    if (const EntryAt at(i); is_checksums(at)) table = at;
  const auto place = table ? get<std::uint64_t>(bytes, table->offset) : 0;
  const auto length = table ? get<std::uint64_t>(bytes, table->bytes) : 0;
  if (table && is_inside(place, length)) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const EntryAt at(i);
      const auto offset = get<std::uint64_t>(bytes, at.offset);
      const auto section_bytes = get<std::uint64_t>(bytes, at.bytes);
      const auto first_chunk = get<std::uint64_t>(bytes, at.first_chunk);
      if (is_checksums(at) || !is_inside(offset, section_bytes)) continue;
      for (std::uint64_t done = 0, chunk = first_chunk; done < section_bytes;
           done += kChunkBytes, ++chunk) {
        if (chunk >= length / 8) break;
        const auto data = std::span(bytes).subspan(
            offset + done, std::min<std::uint64_t>(kChunkBytes, section_bytes - done));
        put(bytes, place + 8 * chunk, xxh64(data));
      }
    }
    put(bytes, table->digest, xxh64(std::span(bytes).subspan(place, length)));
  }
  repair_header(bytes);
}

}  // namespace graphmount::testing
