// Page requests: that asking changes nothing but what is in memory, and that pages which are thrown
// out are asked for again.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "check.hpp"
#include "graphmount/graph/page_requests.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kBytes = std::uint64_t{8} << 20;

std::filesystem::path write_file(const TemporaryFolder& folder) {
  const std::filesystem::path path = folder / "file";
  std::ofstream(path, std::ios::binary) << std::string(kBytes, 'x');
  return path;
}

void evict(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY);
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

std::uint64_t resident(const MappedFile& file) {
  const auto bytes = file.resident_bytes(0, file.size());
  if (!bytes) skip("this system does not tell what is in memory");
  return *bytes;
}

/// What a section of bytes that fills the file would say.
const Section kWhole{.offset = 0, .bytes = kBytes, .rows = kBytes};
const Section* const kLooked[] = {nullptr, &kWhole};

}  // namespace

TEST(asks_for_what_was_added) {
  const TemporaryFolder folder;
  const auto path = write_file(folder);
  const auto file = MappedFile::open(path);
  evict(path);
  if (resident(*file) != 0) skip("pages cannot be thrown out of memory here");
  file->advise(Advice::kRandom, 0, kBytes);
  ResidentPages pages(*file, {&kWhole, 1});
  pages.set_read_ahead(ReadAhead::kBatch);
  PageRequests requests;
  requests.begin(pages);
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(kBytes); at += 1 << 16)
    requests.add(kWhole, 1, at, at + 5000);  // two pages of each 16
  requests.start();
  requests.finish();
  for (int i = 0; i < 500 && resident(*file) < kBytes / 8; ++i) usleep(10'000);
  CHECK_EQUAL(resident(*file), kBytes / 8);
}

TEST(the_mode_decides) {
  const TemporaryFolder folder;
  const auto path = write_file(folder);
  const auto file = MappedFile::open(path);
  ResidentPages pages(*file, {&kWhole, 1});
  pages.set_read_ahead(ReadAhead::kBatch);
  CHECK(pages.wants_requests(kLooked));
  pages.set_read_ahead(ReadAhead::kNone);
  CHECK(!pages.wants_requests(kLooked));
  pages.set_read_ahead(ReadAhead::kAuto);
  if (resident(*file) == kBytes) CHECK(!pages.wants_requests(kLooked));
}

TEST(a_cold_file_wants_requests) {
  const TemporaryFolder folder;
  const auto path = write_file(folder);
  const auto file = MappedFile::open(path);
  evict(path);
  if (resident(*file) != 0) skip("pages cannot be thrown out of memory here");
  CHECK(ResidentPages(*file, {&kWhole, 1}).wants_requests(kLooked));
}

TEST(only_sections_that_are_read_count) {
  const TemporaryFolder folder;
  const auto path = write_file(folder);
  const auto file = MappedFile::open(path);
  evict(path);
  if (resident(*file) != 0) skip("pages cannot be thrown out of memory here");
  const Section halves[] = {{.offset = 0, .bytes = kBytes / 2},
                            {.offset = kBytes / 2, .bytes = kBytes / 2}};
  file->advise(Advice::kRandom, 0, kBytes);
  file->advise(Advice::kPopulate, 0, kBytes / 2);
  if (resident(*file) > kBytes / 2) skip("this system reads more than it was asked to");
  ResidentPages pages(*file, halves);
  const Section* const first[] = {&halves[0]};
  const Section* const both[] = {&halves[0], &halves[1]};
  CHECK(!pages.wants_requests(first));
  CHECK(pages.wants_requests(both));
}

TEST(the_end_of_the_file_and_nothing_at_all) {
  const TemporaryFolder folder;
  const auto path = write_file(folder);
  const auto file = MappedFile::open(path);
  ResidentPages pages(*file, {&kWhole, 1});
  PageRequests requests;
  for (int i = 0; i < 2; ++i) {
    requests.begin(pages);
    requests.add(kWhole, 1, 0, 0);
    requests.add(kWhole, 1, kBytes - 1, kBytes);
    requests.add(kWhole, 8, kBytes / 8 - 1, kBytes / 8);
    requests.start();
    requests.finish();
  }
}
