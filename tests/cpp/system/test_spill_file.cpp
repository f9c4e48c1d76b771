// Spill files: what goes in comes out, errors say what to do, and nothing is ever left behind.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/files/spill_file.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

Bytes read(const SpillFile& file, std::uint64_t offset, std::size_t count) {
  Bytes bytes(count);
  file.read_at(offset, bytes);
  return bytes;
}

}  // namespace

TEST(gives_back_what_was_appended) {
  const TemporaryFolder folder;
  SpillFile file(folder.path());
  std::vector<std::uint64_t> offsets;
  for (unsigned i = 0; i < 100; ++i) offsets.push_back(file.append(random_bytes(i * 997, i)));
  CHECK_EQUAL(file.bytes(), 997U * 99 * 100 / 2);
  for (unsigned i = 100; i-- > 0;) {
    file.will_need(offsets[i], i * 997);
    CHECK(read(file, offsets[i], i * 997) == random_bytes(i * 997, i));
  }
}

TEST(has_no_name) {
  const TemporaryFolder folder;
  SpillFile file(folder.path());
  file.append(random_bytes(100, 1));
  CHECK(is_empty(folder.path()));
}

TEST(creates_nothing_before_the_first_append) {
  SpillFile file("/nowhere/at/all");
  CHECK_EQUAL(file.bytes(), 0U);
  CHECK_EQUAL(file.append({}), 0U);
  file.will_need(0, 10);
  file.release(0, 10);
  CHECK_THROWS_WITH(file.append(random_bytes(1, 1)), IoError, "pass tmp= for another folder");
  CHECK_THROWS_WITH(file.append(random_bytes(1, 1)), IoError, "/nowhere/at/all");
}

TEST(a_release_keeps_what_is_beside_it) {
  const TemporaryFolder folder;
  SpillFile file(folder.path());
  const Bytes bytes = random_bytes(1 << 20, 3);
  file.append(bytes);
  file.release(1000, 900'000);
  CHECK(read(file, 0, 1000) == Bytes(bytes.begin(), bytes.begin() + 1000));
  CHECK(read(file, 901'000, 1000) == Bytes(bytes.begin() + 901'000, bytes.begin() + 902'000));
  CHECK_EQUAL(file.append(bytes), std::uint64_t{1} << 20);
  CHECK(read(file, 1 << 20, 1 << 20) == bytes);
}

TEST(reading_beyond_the_end_is_an_error) {
  const TemporaryFolder folder;
  SpillFile file(folder.path());
  file.append(random_bytes(100, 1));
  CHECK_THROWS_WITH(read(file, 50, 51), IoError, "ends before byte 101");
}

TEST(starts_writing_back_many_megabytes) {
  const TemporaryFolder folder;
  SpillFile file(folder.path());
  const Bytes bytes = random_bytes(5 << 20, 4);
  for (int i = 0; i < 5; ++i) file.append(bytes);
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(read(file, i * bytes.size(), 5 << 20) == bytes);
}

TEST(many_threads_read) {
  const TemporaryFolder folder;
  SpillFile file(folder.path());
  const Bytes bytes = random_bytes(1 << 20, 5);
  file.append(bytes);
  std::vector<std::thread> threads;
  std::vector<Bytes> results(4);
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { results[i] = read(file, 0, 1 << 20); });
  for (std::thread& thread : threads) thread.join();
  for (const Bytes& result : results) CHECK(result == bytes);
}

TEST(leaves_nothing_when_killed) {
  const TemporaryFolder folder;
  const int status = run_in_child([&] {
    SpillFile file(folder.path());
    file.append(random_bytes(100, 1));
    kill(getpid(), SIGKILL);
  });
  CHECK(is_death_by(status, SIGKILL));
  CHECK(is_empty(folder.path()));
}

TEST(a_full_disk_says_how_much_was_to_be_written_and_where) {
  const TemporaryFolder folder;
  if (mount("graphmount", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    skip("it takes root and leave to mount a file system");
  std::string message;
  int code = 0;
  Bytes kept;
  {
    SpillFile file(folder.path());
    file.append(random_bytes(1000, 1));
    try {
      file.append(random_bytes(2 << 20, 2));
    } catch (const IoError& error) {
      message = error.what();
      code = error.code();
    }
    file.release(1000, 2 << 20);
    kept = read(file, file.append(random_bytes(1000, 3)), 1000);
  }
  const bool nothing_left = is_empty(folder.path());
  CHECK_EQUAL(umount(folder.path().c_str()), 0);
  CHECK_EQUAL(code, ENOSPC);
  CHECK(message.find("cannot write 2097152 bytes to a temporary file that has 1000 already") !=
        std::string::npos);
  CHECK(message.find("pass tmp= for another folder") != std::string::npos);
  CHECK(message.starts_with(folder.path().string() + ": "));
  CHECK(kept == random_bytes(1000, 3));
  CHECK(nothing_left);
}

TEST(a_forked_child_reads_and_changes_nothing) {
  const TemporaryFolder folder;
  SpillFile file(folder.path());
  const Bytes bytes = random_bytes(100'000, 7);
  CHECK_EQUAL(file.append(bytes), 0U);
  const int status = run_in_child([&] {
    CHECK_THROWS_WITH(file.append(bytes), std::runtime_error, "a forked child of it cannot go on");
    file.release(0, bytes.size());
    CHECK(read(file, 0, bytes.size()) == bytes);
    SpillFile own(folder.path());
    CHECK_EQUAL(own.append(bytes), 0U);
  });
  CHECK(is_success(status));
  CHECK_EQUAL(file.append(bytes), bytes.size());
  CHECK(read(file, 0, bytes.size()) == bytes);
}
