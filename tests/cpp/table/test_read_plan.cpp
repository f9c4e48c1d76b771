// Plans of reads: that every byte of every row is in a request, that requests keep to their limits,
// and that rows which lie near share one.
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "graphmount/table/reading/read_plan.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

struct Planned {
  std::vector<ReadRequest> requests;
  std::vector<RowRead> reads;
};

Planned plan(const std::vector<std::uint64_t>& rows, const RowPlaces& places,
             const RequestLimits& limits) {
  Planned result;
  for (const std::uint64_t row : rows) result.reads.push_back({row, nullptr});
  ReadPlan plan(result.reads, places, limits);
  for (ReadRequest request{}; plan.next(request);) result.requests.push_back(request);
  return result;
}

/// Copies from a file that is a function of its offsets, and looks at what arrives.
void check_plan(const std::set<std::uint64_t>& rows, const RowPlaces& places,
                const RequestLimits& limits) {
  const auto byte_at = [](std::uint64_t at) { return static_cast<std::byte>(at * 7919 >> 3); };
  std::vector<std::byte> out(rows.size() * places.row_bytes, std::byte{0});
  std::vector<RowRead> reads;
  for (const std::uint64_t row : rows)
    reads.push_back({row, out.data() + reads.size() * places.row_bytes});
  ReadPlan plan(reads, places, limits);
  std::uint64_t last_end = 0;
  for (ReadRequest request{}; plan.next(request);) {
    CHECK_EQUAL(request.offset % limits.block_bytes, 0U);
    CHECK_EQUAL(request.bytes % limits.block_bytes, 0U);
    CHECK(request.bytes > 0 && request.bytes <= limits.most_bytes);
    CHECK(request.needed <= request.bytes && request.bytes - request.needed < limits.block_bytes);
    CHECK(request.offset >= last_end);
    CHECK(request.first < request.end && request.end <= reads.size());
    last_end = request.offset + request.bytes;
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < request.bytes; ++i) bytes.push_back(byte_at(request.offset + i));
    copy_rows(request, bytes.data(), reads, places);
  }
  for (std::size_t i = 0; i < reads.size(); ++i)
    for (std::uint64_t j = 0; j < places.row_bytes; ++j)
      CHECK(out[i * places.row_bytes + j] == byte_at(places.begin_of(reads[i].row) + j));
}

constexpr RequestLimits kPages{.block_bytes = 4096, .gap_bytes = 0, .most_bytes = 16384};

}  // namespace

TEST(rows_of_one_block_share_a_request) {
  const auto planned = plan({0, 3, 7, 8}, {65536, 512}, kPages);
  CHECK_EQUAL(planned.requests.size(), 1U);  // the second block follows at once
  CHECK_EQUAL(planned.requests[0].offset, 65536U);
  CHECK_EQUAL(planned.requests[0].bytes, 8192U);
  CHECK_EQUAL(planned.requests[0].needed, 4096U + 512U);
  CHECK_EQUAL(plan({0, 16}, {65536, 512}, kPages).requests.size(), 2U);
  RequestLimits lenient = kPages;
  lenient.gap_bytes = 4096;
  CHECK_EQUAL(plan({0, 16}, {65536, 512}, lenient).requests.size(), 1U);
  CHECK_EQUAL(plan({0, 24}, {65536, 512}, lenient).requests.size(), 2U);
}

TEST(long_rows_are_cut) {
  const auto planned = plan({1}, {65536, 40000}, kPages);
  CHECK_EQUAL(planned.requests.size(), 3U);  // from within a block: 40000 + 3136 bytes
  CHECK_EQUAL(planned.requests[0].bytes, 16384U);
  CHECK_EQUAL(planned.requests[2].needed, (65536U + 80000U) - planned.requests[2].offset);
}

TEST(nothing_to_read) {
  CHECK(plan({}, {65536, 512}, kPages).requests.empty());
  CHECK(plan({0, 1, 2}, {65536, 0}, kPages).requests.empty());
}

TEST(every_byte_is_read_once) {
  std::mt19937_64 random(1);
  for (const std::uint64_t row_bytes :
       {1U, 3U, 64U, 100U, 512U, 4095U, 4096U, 4097U, 12288U, 70001U})
    for (const std::uint64_t block : {1U, 512U, 4096U})
      for (const std::uint64_t gap : {0U, 5000U})
        for (const std::uint64_t range : {20U, 2000U}) {
          std::set<std::uint64_t> rows;
          while (rows.size() < 15) rows.insert(random() % range);
          check_plan(rows, {65536, row_bytes},
                     {.block_bytes = block, .gap_bytes = gap, .most_bytes = 8192});
        }
}
