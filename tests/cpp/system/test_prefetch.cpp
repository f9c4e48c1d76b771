// Read-ahead of scattered ranges: the bytes asked for, in whole pages, none of them twice.
#include <vector>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/system/mapping/prefetch.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kPage = 4096, kFileBytes = 20 * kPage + 100;

std::uint64_t prefetch(const std::vector<ByteRange>& ranges) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", Bytes(kFileBytes));
  return prefetch_ranges(*MappedFile::open(folder / "file"), ranges);
}

}  // namespace

TEST(nothing_asked_for) {
  CHECK_EQUAL(prefetch({}), 0U);
  CHECK_EQUAL(prefetch({{5, 5}, {kPage, kPage}}), 0U);
}

TEST(whole_pages) {
  CHECK_EQUAL(prefetch({{0, 1}}), kPage);
  CHECK_EQUAL(prefetch({{kPage - 1, kPage + 1}}), 2 * kPage);
  CHECK_EQUAL(prefetch({{kPage, 2 * kPage}}), kPage);
}

TEST(the_last_page_ends_with_the_file) {
  CHECK_EQUAL(prefetch({{20 * kPage + 50, 20 * kPage + 51}}), 100U);
  CHECK_EQUAL(prefetch({{0, kFileBytes}}), kFileBytes);
}

TEST(no_page_twice) {
  CHECK_EQUAL(prefetch({{10, 20}, {30, 40}, {10, 20}}), kPage);
  CHECK_EQUAL(prefetch({{9 * kPage, 10 * kPage}, {0, 1}, {8 * kPage, 9 * kPage}}), 3 * kPage);
  CHECK_EQUAL(prefetch({{0, 10 * kPage}, {kPage, 2 * kPage}, {5 * kPage, 12 * kPage}}), 12 * kPage);
}
