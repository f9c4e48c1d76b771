// Calls to the system that fail while files are read: see fault_campaign.hpp for what is checked.
#include <cerrno>

#include "check.hpp"
#include "fault_work.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

TEST(every_way_to_read) {
  run_campaigns(reading_work());
}

TEST(pages_that_cannot_be_asked_for_are_no_error) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", Bytes(10'000));
  const auto file = MappedFile::open(folder / "file");
  const FaultyCalls calls({Call::kAdviseMemory, EAGAIN, 1, true});
  file->advise(Advice::kWillNeed, 0, 10'000);
  CHECK_EQUAL(calls.num_strikes(), 1U);
}
