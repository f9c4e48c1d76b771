#include "graphmount/prefetch.hpp"

#include <algorithm>

#include "graphmount/types.hpp"

namespace graphmount {

std::uint64_t prefetch_ranges(const MappedFile& file, std::vector<ByteRange> ranges) {
  // The smallest page there is: a system with larger ones rounds further by itself.
  constexpr std::uint64_t kPageBytes = 4096;
  std::erase_if(ranges, [](const ByteRange& range) { return range.begin >= range.end; });
  for (ByteRange& range : ranges) {
    range.begin = range.begin / kPageBytes * kPageBytes;
    range.end = std::min(file.size(), round_up(range.end, kPageBytes));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < ranges.size();) {
    ByteRange merged = ranges[i];
    for (++i; i < ranges.size() && ranges[i].begin <= merged.end; ++i)
      merged.end = std::max(merged.end, ranges[i].end);
    file.advise(Advice::kWillNeed, merged.begin, merged.end - merged.begin);
    bytes += merged.end - merged.begin;
  }
  return bytes;
}

}  // namespace graphmount
