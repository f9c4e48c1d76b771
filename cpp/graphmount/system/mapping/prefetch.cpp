#include "graphmount/system/mapping/prefetch.hpp"

#include <unistd.h>

#include <algorithm>

#include "graphmount/base/interrupt.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/system/files/system_calls.hpp"

namespace graphmount {

std::uint64_t prefetch_ranges(const MappedFile& file, std::vector<ByteRange> ranges) {
  // The smallest page there is: a system with larger ones rounds further by itself.
  constexpr std::uint64_t kPageBytes = 4096;
  constexpr unsigned kBetweenChecks = 1 << 16;
  std::erase_if(ranges, [](const ByteRange& range) { return range.begin >= range.end; });
  for (ByteRange& range : ranges) {
    range.begin = range.begin / kPageBytes * kPageBytes;
    range.end = std::min(file.size(), round_up(range.end, kPageBytes));
  }
  std::sort(ranges.begin(), ranges.end(),
            [compared = 0U](const ByteRange& a, const ByteRange& b) mutable {
              if (++compared % kBetweenChecks == 0) check_interrupt();
              return a.begin < b.begin;
            });
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < ranges.size();) {
    ByteRange merged = ranges[i];
    for (++i; i < ranges.size() && ranges[i].begin <= merged.end; ++i)
      merged.end = std::max(merged.end, ranges[i].end);
    check_interrupt();
    file.advise(Advice::kWillNeed, merged.begin, merged.end - merged.begin);
    bytes += merged.end - merged.begin;
  }
  return bytes;
}

void prefetch_memory(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size();
  // Only advice: what is not a mapping of a file has nothing to read.
  static_cast<void>(
      system_call::advise_memory(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED));
}

}  // namespace graphmount
