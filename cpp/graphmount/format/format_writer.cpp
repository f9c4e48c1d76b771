#include "graphmount/format/format_writer.hpp"

#include <algorithm>

#include "graphmount/base/checksum.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

Header with_places(Header header) {
  header.sections.push_back({.kind = SectionKind::kChecksums, .dtype = DType::kInt64});
  lay_out(header);
  return header;
}

}  // namespace

FormatWriter::FormatWriter(const std::filesystem::path& path, Header header)
    : header_(with_places(std::move(header))),
      file_(path, header_.file_bytes),
      checksums_(header_.sections.back().rows) {}

void FormatWriter::write(std::size_t index, std::uint64_t offset, std::span<const std::byte> data) {
  const Section& section = header_.sections[index];
  const std::uint64_t first_chunk = section.first_chunk + offset / kChunkBytes;
  const std::size_t chunks = (data.size() + kChunkBytes - 1) / kChunkBytes;
  // A section whose rows are not known yet has more chunks than were laid out.
  checksums_.resize(std::max<std::size_t>(checksums_.size(), first_chunk + chunks));
  file_.reserve_ahead(section.offset + offset + data.size());
  parallel_for(chunks, 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t at = i * kChunkBytes;
      const auto chunk = data.subspan(at, std::min<std::size_t>(kChunkBytes, data.size() - at));
      Xxh64 hash;
      // In pieces that are still in the processor's cache when they are read again.
      for (std::size_t done = 0; done < chunk.size(); done += kPieceBytes) {
        const auto piece = chunk.subspan(done, std::min(kPieceBytes, chunk.size() - done));
        hash.add(piece);
        file_.write_at(section.offset + offset + at + done, piece);
      }
      checksums_[first_chunk + i] = hash.hash();
    }
    file_.start_write_back(section.offset + offset + begin * kChunkBytes,
                           (end - begin) * kChunkBytes);
  });
}

void FormatWriter::write_part(std::size_t index, std::uint64_t offset,
                              std::span<const std::byte> data) {
  const std::uint64_t place = header_.sections[index].offset + offset;
  file_.reserve_ahead(place + data.size());
  file_.write_at(place, data);
  file_.start_write_back(place, data.size());
}

void FormatWriter::set_checksum(std::size_t index, std::uint64_t chunk, std::uint64_t checksum) {
  const std::uint64_t place = header_.sections[index].first_chunk + chunk;
  // As above.
  checksums_.resize(std::max<std::size_t>(checksums_.size(), place + 1));
  checksums_[place] = checksum;
}

void FormatWriter::set_rows(std::size_t index, std::uint64_t rows) {
  header_.num_rows = rows;
  header_.sections[index].rows = rows;
  lay_out(header_);
  checksums_.resize(header_.sections.back().rows);
  file_.reserve(header_.file_bytes);
}

void FormatWriter::finish() {
  Section& section = header_.sections.back();
  const auto checksums = std::as_bytes(std::span(checksums_));
  section.digest = xxh64(checksums);
  file_.write_at(section.offset, checksums);
  file_.write_at(0, encode_header(header_));
  file_.commit();
}

}  // namespace graphmount
