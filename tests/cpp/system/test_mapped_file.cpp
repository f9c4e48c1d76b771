// Mapped files: what can be opened, what a mapping shows, and that it stays harmless when the file
// is replaced, removed or truncated.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "check.hpp"
#include "child_process.hpp"
#include "forged_file.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::uint64_t kPages = 64 * 1024;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.data()), static_cast<std::size_t>(file.size())};
}

int open_error(const std::filesystem::path& path) {
  try {
    MappedFile::open(path);
  } catch (const IoError& error) {
    CHECK_EQUAL(error.path(), path.string());
    CHECK(std::string(error.what()).find(path.string() + ": cannot ") == 0);
    return error.code();
  }
  return 0;
}

}  // namespace

TEST(names_what_cannot_be_opened) {
  const TemporaryFolder folder;
  CHECK_EQUAL(open_error(folder / "missing"), ENOENT);
  CHECK_EQUAL(open_error(folder.path()), EISDIR);
  CHECK_EQUAL(open_error("/dev/null"), EINVAL);
  CHECK_EQUAL(open_error(folder / std::string(300, 'x')), ENAMETOOLONG);
  CHECK_EQUAL(open_error(""), ENOENT);
  CHECK_EQUAL(mkfifo((folder / "fifo").c_str(), 0600), 0);
  CHECK_EQUAL(open_error(folder / "fifo"), EINVAL);  // and does not wait for a writer
  write_text(folder / "file", "x");
  CHECK_EQUAL(open_error(folder / "file" / "below"), ENOTDIR);
}

TEST(maps_what_somebody_has_open) {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  const int descriptor = ::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(descriptor >= 0);
  write_text(folder / "new", "new, and longer");
  std::filesystem::rename(folder / "new", folder / "file");
  const auto file = MappedFile::open(descriptor, folder / "file");
  CHECK_EQUAL(close(descriptor), 0);  // which is still ours to close
  CHECK_EQUAL(text_of(*file), "old");
  CHECK_EQUAL(file->path(), (folder / "file").string());
  CHECK_THROWS(MappedFile::open(-1, folder / "file"), IoError);
  const int directory = ::open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  CHECK_THROWS(MappedFile::open(directory, folder.path()), IoError);
  CHECK_EQUAL(close(directory), 0);
}

TEST(names_a_file_it_may_not_read) {
  const TemporaryFolder folder;
  write_text(folder / "secret", "x");
  const int status = run_in_child([&] {
    CHECK_EQUAL(chmod(folder.path().c_str(), 0755), 0);
    CHECK_EQUAL(chmod((folder / "secret").c_str(), 0), 0);
    if (getuid() == 0) CHECK_EQUAL(setuid(65534), 0);  // nothing is forbidden to root
    CHECK_EQUAL(open_error(folder / "secret"), EACCES);
  });
  CHECK(is_success(status));
}

TEST(empty_file_is_an_empty_span) {
  const TemporaryFolder folder;
  write_text(folder / "empty", "");
  const auto file = MappedFile::open(folder / "empty");
  CHECK(file->bytes().empty());
  file->require_intact();
  file->advise(Advice::kPopulate, 0, 100);
  CHECK_EQUAL(file->resident_bytes(0, 100).value(), 0U);
  CHECK(file->map_again(MapMode::kPrivate)->bytes().empty());
}

TEST(shows_the_bytes) {
  const TemporaryFolder folder;
  write_text(folder / "file", "seven b");
  const auto file = MappedFile::open(folder / "file");
  CHECK_EQUAL(text_of(*file), "seven b");
  CHECK_EQUAL(file->path(), (folder / "file").string());
  CHECK(!file->is_writable());
  CHECK_EQUAL(file->read_guarded([&] { return file->bytes().size(); }), 7U);
}

TEST(outlives_replacement_and_removal) {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  const auto file = MappedFile::open(folder / "file");
  write_text(folder / "other", "new one");
  std::filesystem::rename(folder / "other", folder / "file");
  CHECK_EQUAL(text_of(*file->map_again(MapMode::kShared)), "old");
  CHECK_EQUAL(text_of(*MappedFile::open(folder / "file")), "new one");
  std::filesystem::remove(folder / "file");
  CHECK_EQUAL(text_of(*file), "old");
  CHECK_EQUAL(text_of(*file->map_again(MapMode::kPrivate)), "old");
  file->require_intact();
}

TEST(outlives_the_mapping_it_was_made_from) {
  const TemporaryFolder folder;
  write_text(folder / "file", "bytes");
  std::shared_ptr<MappedFile> view = MappedFile::open(folder / "file")->map_again(MapMode::kShared);
  CHECK_EQUAL(text_of(*view), "bytes");
  view = view->map_again(MapMode::kPrivate);
  CHECK_EQUAL(text_of(*view), "bytes");
}

TEST(private_writes_stay_private) {
  const TemporaryFolder folder;
  write_text(folder / "file", "bytes");
  const auto file = MappedFile::open(folder / "file");
  const auto view = file->map_again(MapMode::kPrivate);
  CHECK(view->is_writable());
  view->data()[0] = std::byte{'B'};
  CHECK_EQUAL(text_of(*view), "Bytes");
  CHECK_EQUAL(text_of(*file), "bytes");
  CHECK_EQUAL(text_of(*file->map_again(MapMode::kPrivate)), "bytes");
  CHECK(read_bytes(folder / "file")[0] == std::byte{'b'});
}

TEST(advice_is_clipped_to_the_file) {
  const TemporaryFolder folder;
  write_text(folder / "file", std::string(kPages + 100, 'x'));
  const auto file = MappedFile::open(folder / "file");
  for (const Advice advice : {Advice::kNormal, Advice::kRandom, Advice::kSequential,
                              Advice::kWillNeed, Advice::kPopulate}) {
    for (const std::uint64_t offset :
         {std::uint64_t{0}, std::uint64_t{1}, kPages, kPages + 100, kPages * 100, UINT64_MAX})
      for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kPages, UINT64_MAX})
        file->advise(advice, offset, bytes);
  }
}

TEST(counts_resident_bytes) {
  const TemporaryFolder folder;
  write_text(folder / "file", std::string(kPages + 100, 'x'));
  const auto file = MappedFile::open(folder / "file");
  file->advise(Advice::kPopulate, 0, UINT64_MAX);
  CHECK_EQUAL(file->resident_bytes(0, UINT64_MAX).value(), kPages + 100);
  CHECK_EQUAL(file->resident_bytes(kPages, 50).value(), 50U);
  CHECK_EQUAL(file->resident_bytes(kPages * 2, 50).value(), 0U);
}

TEST(truncation_is_an_error_of_the_reader) {
  const TemporaryFolder folder;
  write_text(folder / "file", std::string(kPages * 4, 'x'));
  const auto file = MappedFile::open(folder / "file");
  const auto read_all = [&] {
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < file->size(); ++i) {
      // Volatile, or the compiler leaves out what has no effect but the signal.
      const auto* byte = static_cast<const volatile std::byte*>(file->data() + i);
      zeros += *byte == std::byte{0} ? 1 : 0;
    }
    return zeros;
  };
  CHECK_EQUAL(file->read_guarded(read_all), 0U);
  std::filesystem::resize_file(folder / "file", kPages);
  CHECK_THROWS_WITH(file->read_guarded(read_all), FileChangedError, "truncated from 262144 to");
  // And so for ever, even if the file has its old length again: the zero pages are still there.
  CHECK_THROWS(file->require_intact(), FileChangedError);
  std::filesystem::resize_file(folder / "file", kPages * 4);
  CHECK_THROWS_WITH(file->read_guarded(read_all), FileChangedError, "a page could not be read");
  CHECK_THROWS_WITH(file->read_guarded([] {}), FileChangedError, "a page could not be read");
}

TEST(truncation_explains_the_errors_it_causes) {
  const TemporaryFolder folder;
  write_text(folder / "file", std::string(kPages * 4, 'x'));
  const auto file = MappedFile::open(folder / "file");
  std::filesystem::resize_file(folder / "file", kPages);
  const auto trip_over_zeros = [&] {
    if (file->bytes()[kPages * 3] == std::byte{0}) throw std::logic_error("zeros are not right");
  };
  CHECK_THROWS(file->read_guarded(trip_over_zeros), FileChangedError);
}

TEST(populating_a_truncated_file_is_an_error) {
  const TemporaryFolder folder;
  write_text(folder / "file", std::string(kPages * 4, 'x'));
  const auto file = MappedFile::open(folder / "file");
  const auto view = file->map_again(MapMode::kShared);
  std::filesystem::resize_file(folder / "file", kPages);
  const auto populate = [&] { file->advise(Advice::kPopulate, 0, file->size()); };
  CHECK_THROWS(file->read_guarded(populate), FileChangedError);
  CHECK_THROWS(view->advise(Advice::kPopulate, 0, view->size()), FileChangedError);
}

TEST(errors_of_the_reader_pass_through) {
  const TemporaryFolder folder;
  write_text(folder / "file", "bytes");
  const auto file = MappedFile::open(folder / "file");
  const auto fail = [] { throw std::domain_error("mine"); };
  CHECK_THROWS_WITH(file->read_guarded(fail), std::domain_error, "mine");
}

TEST(a_file_that_grew_is_no_problem) {
  const TemporaryFolder folder;
  write_text(folder / "file", "bytes");
  const auto file = MappedFile::open(folder / "file");
  std::filesystem::resize_file(folder / "file", kPages);
  file->require_intact();
  CHECK_EQUAL(text_of(*file), "bytes");
}
