// A section written in pieces is the section written at once.
#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/format/section_stream.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

Bytes random_bytes(std::size_t count) {
  std::mt19937_64 random(count);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// A file of two sections, the second of which is put to the test.
Header header_of(std::size_t bytes) {
  return {.kind = FileKind::kFeatures,
          .num_rows = bytes,
          .num_columns = 1,
          .sections = {{.kind = static_cast<SectionKind>(0x8001),
                        .dtype = DType::kInt64,
                        .rows = kChunkBytes / 8 + 3},
                       {.kind = SectionKind::kMatrix, .dtype = DType::kUInt8, .rows = bytes}}};
}

Bytes written(const Bytes& data, const std::function<void(FormatWriter&)>& write) {
  const TemporaryFolder folder;
  FormatWriter writer(folder / "x.gd", header_of(data.size()));
  writer.write(0, 0, random_bytes(kChunkBytes + 24));
  write(writer);
  writer.finish();
  return read_bytes(folder / "x.gd");
}

// The lengths are taken in turns; 0 stands for all the rest.
Bytes streamed(const Bytes& data, const std::vector<std::size_t>& lengths) {
  return written(data, [&](FormatWriter& writer) {
    SectionStream stream(writer, 1);
    CHECK_EQUAL(stream.section().bytes, data.size());
    std::span<const std::byte> rest = data;
    for (std::size_t i = 0; !rest.empty(); ++i) {
      const std::size_t wanted = lengths[i % lengths.size()];
      const std::size_t length = wanted == 0 ? rest.size() : std::min(wanted, rest.size());
      stream.append(rest.first(length));
      stream.append({});
      rest = rest.subspan(length);
    }
    stream.finish();
  });
}

}  // namespace

TEST(pieces_of_any_length_make_the_same_file) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kChunkBytes, 2 * kChunkBytes + 777}) {
    const Bytes data = random_bytes(size);
    const Bytes expected = written(data, [&](FormatWriter& writer) { writer.write(1, 0, data); });
    for (const std::vector<std::size_t>& lengths : {std::vector<std::size_t>{0},
                                                    {kChunkBytes},
                                                    {kChunkBytes - 1},
                                                    {kChunkBytes + 1},
                                                    {100'003},
                                                    {8, kChunkBytes - 8},
                                                    {3 * kChunkBytes / 2}})
      CHECK(streamed(data, lengths) == expected);
  }
}

TEST(refuses_more_than_the_section_holds) {
  const TemporaryFolder folder;
  for (const std::size_t size : {std::size_t{10}, kChunkBytes, kChunkBytes + 10}) {
    FormatWriter writer(folder / "x.gd", header_of(size));
    SectionStream stream(writer, 1);
    CHECK_THROWS_WITH(stream.append(Bytes(size + 1)), std::invalid_argument,
                      "matrix: more was appended than the section holds");
    stream.append(Bytes(size));  // nothing was taken of what was too much
    CHECK_THROWS(stream.append(Bytes(1)), std::invalid_argument);
    stream.finish();
    CHECK_THROWS(stream.append(Bytes(1)), std::invalid_argument);
  }
}

TEST(refuses_to_finish_before_the_end) {
  const TemporaryFolder folder;
  FormatWriter writer(folder / "x.gd", header_of(kChunkBytes + 10));
  SectionStream stream(writer, 1);
  CHECK_THROWS_WITH(stream.finish(), std::invalid_argument, "matrix: only 0 of ");
  stream.append(Bytes(kChunkBytes + 9));
  CHECK_THROWS_WITH(stream.finish(), std::invalid_argument, "bytes were appended");
  stream.append(Bytes(1));
  stream.finish();
}
