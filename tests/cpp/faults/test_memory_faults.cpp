// Memory that is not to be had, at each allocation in turn: see fault_campaign.hpp for what is
// checked. Nobody waits for ever, nothing is left behind, and what is thrown says so.
#include "check.hpp"
#include "fault_work.hpp"

using namespace graphmount::testing;

namespace {

const std::vector<FaultKind> kNoMemory = {{Call::kAllocate, 1, Effect::kMemory}};

}  // namespace

TEST(while_files_are_written) {
  run_campaigns(writing_work(), kNoMemory);
}

TEST(while_files_are_read) {
  run_campaigns(reading_work(), kNoMemory);
}
