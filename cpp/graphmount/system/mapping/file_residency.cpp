#include "graphmount/system/mapping/file_residency.hpp"

#include <sys/resource.h>

namespace graphmount {
namespace {

constexpr auto kLookInterval = std::chrono::seconds(1);

}  // namespace

std::int64_t num_page_waits() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt;
}

bool FileResidency::is_all_resident() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t waits = num_page_waits();
  const bool is_due = now.count() >= next_look_ && (waits != waits_seen_ || !all_resident_);
  if (is_due) {
    waits_seen_ = waits;
    next_look_ = (now + kLookInterval).count();
    const auto resident = file_->resident_bytes(0, file_->size());
    all_resident_ = resident && *resident >= file_->size() - file_->size() / 1024;
  }
  return all_resident_;
}

}  // namespace graphmount
