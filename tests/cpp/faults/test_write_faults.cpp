// Calls to the system that fail while files are written: see fault_campaign.hpp for what is
// checked.
#include <cerrno>

#include "check.hpp"
#include "fault_work.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/files/atomic_file.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

TEST(every_way_to_write) {
  set_num_threads(1);
  run_campaigns(writing_work());
}

TEST(every_way_to_write_by_many_threads) {
  set_num_threads(3);
  // The kinds of faults that come when others are writing.
  run_campaigns(writing_work(), {{Call::kPwrite, EIO, Effect::kError},
                                 {Call::kPwrite, ENOSPC, Effect::kError, true},
                                 {Call::kPwrite, kHalf, Effect::kNone, true},
                                 {Call::kPread, EIO, Effect::kError},
                                 {Call::kMapMemory, ENOMEM, Effect::kMemory}});
}

TEST(where_every_file_has_a_name) {
  const OnlyNamedFiles only;
  run_campaigns(writing_work(), {{Call::kMakeTemporary, ENOSPC, Effect::kError},
                                 {Call::kOpen, EIO, Effect::kEither},
                                 {Call::kPwrite, ENOSPC, Effect::kError},
                                 {Call::kFallocate, ENOSPC, Effect::kEither},
                                 {Call::kFsync, EIO, Effect::kEither},
                                 {Call::kRename, EIO, Effect::kError}});
}

TEST(a_file_that_cannot_be_synced_is_not_put_in_place) {
  const TemporaryFolder folder;
  const auto path = folder / "output";
  write_text(path, "old");
  for (const int code : {EIO, ENOSPC, EDQUOT, EROFS}) {
    AtomicFile file(path, 10);
    const FaultyCalls calls({Call::kFsync, code});
    CHECK_THROWS_WITH(file.commit(), IoError, "cannot sync");
    CHECK_EQUAL(calls.num_calls(Call::kRename), 0U);
    CHECK_EQUAL(calls.num_calls(Call::kLink), 0U);
  }
  CHECK_EQUAL(read_bytes(path).size(), 3U);
}

TEST(cleaning_up_that_fails_hides_no_error) {
  const OnlyNamedFiles only;
  const TemporaryFolder folder;
  const FaultyCalls calls({Call::kUnlink, EIO});
  try {
    AtomicFile file(folder / "output", 10);
    throw IoError("somewhere", "cannot write", ENOSPC);
  } catch (const IoError& error) {
    CHECK_EQUAL(error.code(), ENOSPC);
  }
  CHECK_EQUAL(calls.num_strikes(), 1U);
}
