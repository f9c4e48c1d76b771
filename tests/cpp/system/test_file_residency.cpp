// Residency of a file: noticed within a look.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "check.hpp"
#include "graphmount/system/mapping/file_residency.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

TEST(tells_cold_from_warm) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file", std::ios::binary) << std::string(std::size_t{8} << 20, 'x');
  const auto file = MappedFile::open(folder / "file");
  if (!file->resident_bytes(0, file->size())) skip("this system does not tell what is in memory");
  CHECK(FileResidency(*file).is_all_resident());  // just written
  const int descriptor = open((folder / "file").c_str(), O_RDONLY);
  fdatasync(descriptor);
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  close(descriptor);
  if (*file->resident_bytes(0, file->size()) > file->size() / 2)
    skip("this system does not drop clean pages on request");
  FileResidency residency(*file);
  CHECK(!residency.is_all_resident());
  file->advise(Advice::kPopulate, 0, file->size());
  CHECK(FileResidency(*file).is_all_resident());
}

TEST(looks_at_its_part_and_bears_what_nobody_waits_for) {
  const TemporaryFolder folder;
  const std::size_t bytes = std::size_t{8} << 20;
  std::ofstream(folder / "file", std::ios::binary) << std::string(bytes, 'x');
  const auto file = MappedFile::open(folder / "file");
  if (!file->resident_bytes(0, bytes)) skip("this system does not tell what is in memory");
  const int descriptor = open((folder / "file").c_str(), O_RDONLY);
  fdatasync(descriptor);
  posix_fadvise(descriptor, bytes / 2, 8 * 4096, POSIX_FADV_DONTNEED);
  close(descriptor);
  if (*file->resident_bytes(bytes / 2, 8 * 4096) != 0)
    skip("this system does not drop clean pages on request");
  CHECK(FileResidency(*file).is_all_resident());  // 8 of 2,048 pages
  CHECK(FileResidency(*file, 0, bytes / 2).is_all_resident());
  CHECK(!FileResidency(*file, bytes / 2, 512 * 1024).is_all_resident());  // 8 of 128 pages
}

TEST(an_empty_file_is_resident) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file").close();
  const auto file = MappedFile::open(folder / "file");
  CHECK(FileResidency(*file).is_all_resident());
}
