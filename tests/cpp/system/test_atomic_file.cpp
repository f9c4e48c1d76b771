// Atomic files: all or nothing under the name, and no traces of what failed.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/files/atomic_file.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_in(const std::filesystem::path& path) {
  const Bytes bytes = read_bytes(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

long count_files(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

int write_error(const std::filesystem::path& path, std::uint64_t bytes = 10) {
  try {
    AtomicFile file(path, bytes);
    file.commit();
  } catch (const IoError& error) {
    CHECK_EQUAL(error.path(), path.string());
    return error.code();
  }
  return 0;
}

}  // namespace

TEST(appears_at_commit) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "new", 10);
    file.write_at(5, bytes_of("world"));
    file.write_at(0, bytes_of("hello"));
    CHECK(!std::filesystem::exists(folder / "new"));
    file.commit();
    CHECK_EQUAL(text_in(folder / "new"), "helloworld");
  }
  CHECK_EQUAL(count_files(folder.path()), 1);
  CHECK_EQUAL(text_in(folder / "new"), "helloworld");
}

TEST(grows) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "new", 1);
  file.write_at(0, bytes_of("hello"));
  file.start_write_back(0, 5);
  file.reserve(6);
  file.commit();
  CHECK_EQUAL(text_in(folder / "new"), std::string("hello\0", 6));
}

TEST(gives_back_what_was_reserved_ahead) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "new", 1);
  const std::string part(1 << 20, 'x');
  for (std::uint64_t at = 0; at < 5; ++at) {
    file.reserve_ahead((at + 1) * part.size());
    file.write_at(at * part.size(), bytes_of(part));
  }
  file.commit();
  struct stat status{};
  CHECK_EQUAL(stat((folder / "new").c_str(), &status), 0);
  CHECK_EQUAL(status.st_size, off_t{5} << 20);
  CHECK(status.st_blocks * 512 < status.st_size + (64 << 10));
  CHECK_EQUAL(text_in(folder / "new"), std::string(5 << 20, 'x'));
}

TEST(what_is_not_written_is_zero) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "new", 3);
  file.write_at(1, bytes_of("x"));
  file.commit();
  CHECK_EQUAL(text_in(folder / "new"), std::string("\0x\0", 3));
}

TEST(leaves_nothing_without_commit) {
  const TemporaryFolder folder;
  write_text(folder / "old", "old");
  for (const char* name : {"old", "new"}) {
    AtomicFile file(folder / name, 10);
    file.write_at(0, bytes_of("half"));
  }
  CHECK_EQUAL(count_files(folder.path()), 1);
  CHECK_EQUAL(text_in(folder / "old"), "old");
}

TEST(leaves_nothing_when_killed) {
  const TemporaryFolder folder;
  const int status = run_in_child([&] {
    AtomicFile file(folder / "new", 10);
    file.write_at(0, bytes_of("half"));
    kill(getpid(), SIGKILL);
  });
  CHECK(is_death_by(status, SIGKILL));
  if (count_files(folder.path()) != 0) skip("this file system has no files without a name");
}

TEST(replaces_what_was_there) {
  const TemporaryFolder folder;
  write_text(folder / "file", "something old and longer");
  AtomicFile file(folder / "file", 3);
  file.write_at(0, bytes_of("new"));
  CHECK_EQUAL(text_in(folder / "file"), "something old and longer");
  file.commit();
  CHECK_EQUAL(text_in(folder / "file"), "new");
}

TEST(writes_beside_the_working_folder) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  AtomicFile file("plain-name", 3);
  file.write_at(0, bytes_of("new"));
  file.commit();
  std::filesystem::current_path(before);
  CHECK_EQUAL(text_in(folder / "plain-name"), "new");
}

TEST(names_what_cannot_be_written) {
  const TemporaryFolder folder;
  write_text(folder / "file", "x");
  std::filesystem::create_directory(folder / "folder");
  CHECK_EQUAL(write_error(folder / "missing" / "new"), ENOENT);
  CHECK_EQUAL(write_error(folder / "folder"), EISDIR);
  CHECK_EQUAL(write_error(folder / "file" / "new"), ENOTDIR);
  CHECK_EQUAL(write_error(folder / std::string(300, 'x')), ENAMETOOLONG);
  CHECK_EQUAL(write_error("/proc/new"), ENOENT);
  std::filesystem::create_symlink("loop", folder / "loop");
  CHECK_EQUAL(write_error(folder / "loop" / "new"), ELOOP);
  CHECK_EQUAL(count_files(folder.path()), 3);
}

TEST(takes_any_name_the_system_takes) {
  const TemporaryFolder folder;
  for (const std::string& name : {std::string(255, 'x'), std::string("\xFF\n '\""),
                                  std::string("..."), std::string(".hidden")})
    CHECK_EQUAL(write_error(folder / name), 0);
  CHECK_EQUAL(count_files(folder.path()), 4);
}

TEST(names_a_folder_it_may_not_write_to) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "readable");
  const int status = run_in_child([&] {
    CHECK_EQUAL(chmod(folder.path().c_str(), 0755), 0);
    CHECK_EQUAL(chmod((folder / "readable").c_str(), 0555), 0);
    std::filesystem::create_directory(folder / "closed");
    CHECK_EQUAL(chmod((folder / "closed").c_str(), 0), 0);
    if (getuid() == 0) CHECK_EQUAL(setuid(65534), 0);  // nothing is forbidden to root
    CHECK_EQUAL(write_error(folder / "readable" / "new"), EACCES);
    CHECK_EQUAL(write_error(folder / "closed" / "new"), EACCES);
  });
  CHECK(is_success(status));
}

TEST(a_size_beyond_any_disk_is_an_error_at_once) {
  const TemporaryFolder folder;
  const int code = write_error(folder / "new", std::uint64_t{1} << 62);
  CHECK(code == EFBIG || code == ENOSPC);
  CHECK_EQUAL(count_files(folder.path()), 0);
}

TEST(a_full_disk_is_an_error_at_once) {
  const TemporaryFolder folder;
  if (mount("graphmount", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    skip("it takes root and leave to mount a file system");
  const int fits = write_error(folder / "small", 64 * 1024);
  const int does_not = write_error(folder / "large", 4 * 1024 * 1024);
  const long files = count_files(folder.path());
  CHECK_EQUAL(umount(folder.path().c_str()), 0);
  CHECK_EQUAL(fits, 0);
  CHECK_EQUAL(does_not, ENOSPC);
  CHECK_EQUAL(files, 1);
}

TEST(reserves_ahead_only_what_there_is) {
  const TemporaryFolder folder;
  if (mount("graphmount", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    skip("it takes root and leave to mount a file system");
  int code = 0;
  std::string failed;
  const std::string part(700 * 1024, 'x');
  try {
    AtomicFile file(folder / "new", 1);
    file.reserve_ahead(part.size());  // with as much again, there is no room for it
    file.write_at(0, bytes_of(part));
    file.commit();
    AtomicFile second(folder / "second", 1);
    second.reserve_ahead(part.size());
    second.write_at(0, bytes_of(part));
  } catch (const IoError& error) {
    failed = error.path();
    code = error.code();
  }
  const std::string text = text_in(folder / "new");
  CHECK_EQUAL(umount(folder.path().c_str()), 0);
  CHECK_EQUAL(text, part);
  CHECK_EQUAL(failed, (folder / "second").string());
  CHECK_EQUAL(code, ENOSPC);
}

TEST(gives_back_nothing_that_is_being_written) {
  const TemporaryFolder folder;
  if (mount("graphmount", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0)
    skip("it takes root and leave to mount a file system");
  const std::string part(4096, 'x');
  constexpr std::uint64_t kParts = 128;
  bool are_whole = true;
  for (int run = 0; run < 300; ++run) {
    AtomicFile file(folder / "new", 1);
    std::atomic<std::uint64_t> num_written = 0;
    std::thread writer([&] {
      for (std::uint64_t i = 0; i < kParts; num_written = ++i)
        file.write_at(i * part.size(), bytes_of(part));
    });
    while (num_written < static_cast<std::uint64_t>(run) % kParts) continue;
    file.reserve_ahead(3 << 20);  // there is no room for that
    writer.join();
    file.commit();
    are_whole &= text_in(folder / "new") == std::string(kParts * part.size(), 'x');
  }
  CHECK_EQUAL(umount(folder.path().c_str()), 0);
  CHECK(are_whole);
}

TEST(takes_writes_of_several_threads) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "new", 8 * 4096);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 8; ++i) {
    threads.emplace_back([&file, i] {
      file.write_at(i * 4096, bytes_of(std::string(4096, static_cast<char>('a' + i))));
    });
  }
  for (std::thread& thread : threads) thread.join();
  file.commit();
  const std::string text = text_in(folder / "new");
  for (std::size_t i = 0; i < text.size(); ++i)
    CHECK_EQUAL(text[i], static_cast<char>('a' + i / 4096));
}

TEST(a_forked_child_leaves_it_alone) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "new", 10);
  file.write_at(0, bytes_of("0123456789"));
  const int status = run_in_child([&] {
    constexpr const char* kMessage = "a forked child of it cannot go on";
    CHECK_THROWS_WITH(file.write_at(0, bytes_of("child")), std::runtime_error, kMessage);
    CHECK_THROWS_WITH(file.reserve(20), std::runtime_error, kMessage);
    CHECK_THROWS_WITH(file.reserve_ahead(20), std::runtime_error, kMessage);
    CHECK_THROWS_WITH(file.commit(), std::runtime_error, kMessage);
    file.~AtomicFile();
  });
  CHECK(is_success(status));
  CHECK_EQUAL(count_files(folder.path()), 0);
  file.commit();
  CHECK_EQUAL(text_in(folder / "new"), "0123456789");
}

TEST(says_what_a_special_file_is) {
  const TemporaryFolder folder;
  CHECK_EQUAL(mkfifo((folder / "pipe").c_str(), 0600), 0);
  CHECK_THROWS_WITH(AtomicFile(folder / "pipe", 1), IoError,
                    "cannot replace a special file (this is a named pipe, not a regular file)");
  CHECK_THROWS_WITH(AtomicFile("/dev/null", 1), IoError, "this is a device or terminal");
}
