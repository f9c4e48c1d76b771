// The pieces of work that faults are put into: all ways in which the core writes and reads files,
// on inputs small enough for a few hundred calls.
#pragma once

#include <vector>

#include "fault_campaign.hpp"

namespace graphmount::testing {

/// Graphs in memory and through temporary files, matrices of known and unknown size, rows that are
/// sorted through a temporary file, text. Each replaces a file.
std::vector<Work> writing_work();

/// Opening, verifying, readers, gathers, sweeps, batches with a window and with a sweep, and probes
/// of a disk: by everything that this machine has, with handles that go on after an error and with
/// new ones.
std::vector<Work> reading_work();

}  // namespace graphmount::testing
