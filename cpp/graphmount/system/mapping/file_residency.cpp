#include "graphmount/system/mapping/file_residency.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace graphmount {
namespace {

constexpr auto kLookInterval = std::chrono::seconds(1);
constexpr std::int64_t kFewWaits = 64;  // in that time
// One part in so many that may be missing: whatever happens, and as long as waits are few.
constexpr std::uint64_t kHardlyAny = 1024, kFewEnough = 128;

}  // namespace

std::int64_t num_page_waits() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt;
}

bool FileResidency::is_all_resident() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  if (now.count() < next_look_) return all_resident_;
  next_look_ = (now + kLookInterval).count();
  const std::int64_t waits = num_page_waits();
  const std::int64_t before = waits_seen_.exchange(waits);
  const bool waits_rarely = before < 0 || waits - before <= kFewWaits;
  if (all_resident_ && waits_rarely) return true;
  const auto resident = file_->resident_bytes(offset_, bytes_);
  const std::uint64_t missing = resident ? bytes_ - std::min(*resident, bytes_) : bytes_;
  all_resident_ =
      missing <= bytes_ / kHardlyAny || (waits_rarely && missing <= bytes_ / kFewEnough);
  return all_resident_;
}

}  // namespace graphmount
