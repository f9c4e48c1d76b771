// Mounts: one header, and mappings that views share while any of them is alive.
#include <thread>
#include <vector>

#include "check.hpp"
#include "forged_file.hpp"
#include "graphmount/format/mount.hpp"
#include "graphmount/table/feature_writer.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

class MountedFile {
 public:
  MountedFile() {
    FeatureWriter writer(folder / "file.gd", {.dtype = DType::kUInt8, .rows = 3});
    writer.append(std::as_bytes(std::span("abc", 3)));
    writer.finish();
  }
  const TemporaryFolder folder;
};

}  // namespace

TEST(reads_the_header_and_finds_the_data) {
  const MountedFile file;
  const Mount mount(MappedFile::open(file.folder / "file.gd"), FileKind::kFeatures);
  CHECK_EQUAL(mount.header().num_rows, 3U);
  CHECK_EQUAL(mount.data<char>(*mount.header().find(SectionKind::kMatrix))[2], 'c');
  CHECK_THROWS(Mount(MappedFile::open(file.folder / "file.gd"), FileKind::kGraph), FormatError);
}

TEST(views_share_a_mapping_while_one_is_alive) {
  const MountedFile file;
  const Mount mount(MappedFile::open(file.folder / "file.gd"), FileKind::kFeatures);
  auto first = mount.map_for_view(MapMode::kPrivate);
  auto second = mount.map_for_view(MapMode::kPrivate);
  CHECK(first == second);
  CHECK(mount.map_for_view(MapMode::kShared) != first);
  const std::uint64_t at = mount.header().find(SectionKind::kMatrix)->offset;
  first->data()[at] = std::byte{'A'};
  first = nullptr;
  CHECK(mount.map_for_view(MapMode::kPrivate)->data()[at] == std::byte{'A'});
  second = nullptr;
  CHECK(mount.map_for_view(MapMode::kPrivate)->data()[at] == std::byte{'a'});
}

TEST(a_view_outlives_the_mount) {
  const MountedFile file;
  std::shared_ptr<const MappedFile> view;
  std::uint64_t at = 0;
  {
    const Mount mount(MappedFile::open(file.folder / "file.gd"), FileKind::kFeatures);
    view = mount.map_for_view(MapMode::kShared);
    at = mount.header().find(SectionKind::kMatrix)->offset;
  }
  CHECK(view->data()[at + 1] == std::byte{'b'});
}

TEST(takes_every_advice) {
  const MountedFile file;
  const Mount mount(MappedFile::open(file.folder / "file.gd"), FileKind::kFeatures);
  const auto view = mount.map_for_view(MapMode::kShared);
  for (const Advice advice : {Advice::kRandom, Advice::kSequential, Advice::kWillNeed,
                              Advice::kPopulate, Advice::kNormal})
    mount.advise(advice);
  CHECK_EQUAL(mount.resident_bytes().value(), mount.file().size());
}

TEST(populating_a_truncated_file_is_an_error) {
  const MountedFile file;
  const Mount mount(MappedFile::open(file.folder / "file.gd"), FileKind::kFeatures);
  const auto view = mount.map_for_view(MapMode::kShared);
  std::filesystem::resize_file(file.folder / "file.gd", 4096);
  CHECK_THROWS(mount.advise(Advice::kPopulate), FileChangedError);
}

TEST(gives_views_to_many_threads) {
  const MountedFile file;
  const Mount mount(MappedFile::open(file.folder / "file.gd"), FileKind::kFeatures);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  const std::uint64_t at = mount.header().find(SectionKind::kMatrix)->offset;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        if (mount.map_for_view(MapMode::kShared)->data()[at] != std::byte{'a'}) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0);
}
