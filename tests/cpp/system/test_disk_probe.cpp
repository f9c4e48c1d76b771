// The probe: what it reads is what is in the file, every block of it, by each way; and what it
// refuses.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/system/disk/disk_probe.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kKey = 42, kBlock = 4096;
constexpr ProbeWay kWays[] = {ProbeWay::kMapped, ProbeWay::kPread, ProbeWay::kUring};

// Longer than anything here takes: runs end by themselves, after one round or by an error.
constexpr double kLong = 60;

std::vector<std::uint64_t> pattern(std::uint64_t bytes) {
  std::vector<std::uint64_t> words(bytes / 8);
  fill_probe_pattern(words, 0, kKey);
  return words;
}

std::filesystem::path write_file(const TemporaryFolder& folder,
                                 const std::vector<std::uint64_t>& words) {
  const std::filesystem::path path = folder / "probe";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(words.size() * 8));
  return path;
}

bool has_uring(const DiskProbe& probe) {
  try {
    probe.run({.way = ProbeWay::kUring, .seconds = 0});
    return true;
  } catch (const FileChangedError&) {
    return true;
  } catch (const IoError&) {
    return false;
  }
}

}  // namespace

TEST(the_pattern_is_a_function_of_place_and_key) {
  const auto words = pattern(1 << 20);
  for (std::uint64_t i = 0; i < words.size(); ++i)
    CHECK_EQUAL(words[i], RandomKey(kKey).with(i).bits());
  CHECK_EQUAL(std::set(words.begin(), words.end()).size(), words.size());
  std::vector<std::uint64_t> part(100);
  fill_probe_pattern(part, 8000, kKey);
  CHECK(std::equal(part.begin(), part.end(), words.begin() + 1000));
  fill_probe_pattern(part, 8000, kKey + 1);
  CHECK(part[0] != words[1000]);
  CHECK_THROWS_WITH(fill_probe_pattern(part, 4, kKey), std::invalid_argument, "not at byte 4");
}

TEST(a_mapped_probe_reads_every_block_once) {
  // Sizes that are no powers of two, and a rest that is shorter than a block.
  for (const std::uint64_t blocks : {1U, 2U, 3U, 100U, 1025U}) {
    const TemporaryFolder folder;
    const DiskProbe probe(write_file(folder, pattern(blocks * kBlock + 8)), kKey);
    for (const bool in_order : {false, true})
      for (const unsigned depth : {1U, 3U}) {
        const ProbeResult result = probe.run({.way = ProbeWay::kMapped,
                                              .depth = depth,
                                              .read_bytes = kBlock,
                                              .in_order = in_order,
                                              .seconds = kLong});
        CHECK_EQUAL(result.reads, blocks);
        CHECK(result.seconds < kLong);
      }
  }
}

TEST(every_way_notices_a_wrong_block_wherever_it_is) {
  // Since one block in two hundred is found every time, all of them are read.
  constexpr std::uint64_t kBlocks = 200;
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{117}, kBlocks - 1})
    for (const std::uint64_t place : {std::uint64_t{0}, kBlock / 8 - 1}) {
      const TemporaryFolder folder;
      auto words = pattern(kBlocks * kBlock);
      words[wrong * kBlock / 8 + place] ^= 1;
      const DiskProbe probe(write_file(folder, words), kKey);
      const std::string byte = "byte " + std::to_string(wrong * kBlock + place * 8) + " is not";
      for (const ProbeWay way : kWays) {
        if (way == ProbeWay::kUring && !has_uring(probe)) continue;
        for (const unsigned depth : {1U, 32U})
          for (const bool in_order : {false, true})
            CHECK_THROWS_WITH(
                probe.run({.way = way, .depth = depth, .in_order = in_order, .seconds = kLong}),
                FileChangedError, byte);
      }
    }
}

TEST(larger_reads) {
  const TemporaryFolder folder;
  const DiskProbe probe(write_file(folder, pattern(8 << 20)), kKey);
  for (const ProbeWay way : kWays) {
    if (way == ProbeWay::kUring && !has_uring(probe)) continue;
    const ProbeResult result = probe.run(
        {.way = way, .depth = 8, .read_bytes = 1 << 20, .in_order = true, .seconds = 0.05});
    CHECK(result.reads >= 8 || result.seconds >= 0.05);
    CHECK(result.reads > 0);
  }
}

TEST(a_time_that_is_over_at_once_is_enough_for_one_read) {
  const TemporaryFolder folder;
  const DiskProbe probe(write_file(folder, pattern(100 * kBlock)), kKey);
  for (const ProbeWay way : kWays) {
    if (way == ProbeWay::kUring && !has_uring(probe)) continue;
    for (const unsigned depth : {1U, 32U}) {
      const ProbeResult result = probe.run({.way = way, .depth = depth, .seconds = 0});
      CHECK_EQUAL(result.reads, 1U);
      CHECK(result.seconds > 0);
    }
  }
}

TEST(a_file_without_a_key_is_not_checked) {
  const TemporaryFolder folder;
  const auto path = write_file(folder, std::vector<std::uint64_t>(100 * kBlock / 8));
  CHECK_EQUAL(DiskProbe(path).run({.way = ProbeWay::kMapped, .seconds = kLong}).reads, 100U);
  CHECK_THROWS(DiskProbe(path, kKey).run({.seconds = kLong}), FileChangedError);
}

TEST(what_is_refused) {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(DiskProbe(folder / "nothing"), IoError, "cannot open");
  const DiskProbe probe(write_file(folder, pattern(kBlock)), kKey);
  CHECK_THROWS_WITH(probe.run({.read_bytes = 0}), std::invalid_argument, "not of 0");
  CHECK_THROWS_WITH(probe.run({.read_bytes = 5000}), std::invalid_argument, "not of 5000");
  CHECK_THROWS_WITH(probe.run({.read_bytes = 1 << 30}), std::invalid_argument, "at most 16 MiB");
  CHECK_THROWS_WITH(probe.run({.read_bytes = 8192}), std::invalid_argument, "shorter than one");
  CHECK_THROWS_WITH(probe.run({.depth = 0}), std::invalid_argument, "not 0");
  CHECK_THROWS_WITH(probe.run({.depth = 5000}), std::invalid_argument, "not 5000");
  CHECK_THROWS_WITH(probe.run({.seconds = -1}), std::invalid_argument, "seconds");
}

TEST(a_file_that_shrinks_is_an_error) {
  const TemporaryFolder folder;
  const auto path = write_file(folder, pattern(100 * kBlock));
  const DiskProbe probe(path, kKey);
  const bool uring = has_uring(probe);
  std::filesystem::resize_file(path, 10 * kBlock);
  for (const ProbeWay way : kWays) {
    if (way == ProbeWay::kUring && !uring) continue;
    CHECK_THROWS(probe.run({.way = way, .seconds = kLong}), FileChangedError);
  }
}

TEST(refused_io_uring_is_an_error_with_its_code) {
  if (!kCanDoWithoutDescriptors) skip("UBSan needs descriptors");
  const TemporaryFolder folder;
  const auto path = write_file(folder, pattern(100 * kBlock));
  const int status = run_in_child([&] {
    const DiskProbe probe(path, kKey);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(dup(0));  // room for no more files, and so for no ring
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int code = 0;
    try {
      probe.run({.way = ProbeWay::kUring});
    } catch (const IoError& error) {
      code = error.code();
    }
    CHECK(code == EMFILE || code == ENOSYS || code == EPERM);
    CHECK(probe.run({.way = ProbeWay::kPread, .seconds = 0.01}).reads > 0);
  });
  CHECK(is_success(status));
}
