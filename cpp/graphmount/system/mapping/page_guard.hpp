// Turns the SIGBUS of a vanished page into a flag, for memory that only the core reads.
//
// Reading a mapped page beyond the end of a truncated file, or one the disk cannot deliver, raises
// SIGBUS. For a watched region the handler puts zero pages over the rest of the region, sets the
// region's flag and returns, so the reader goes on with zeros and finds out at its next
// `MappedFile::require_intact`. No stack is unwound, so no destructor is skipped; and no view a
// user holds is touched, because watched regions are never handed out. Every other SIGBUS goes to
// the handler that was there before. POSIX only.
#pragma once

#include <atomic>
#include <cstddef>

namespace graphmount {

/// Watches [begin, begin + bytes) until `unwatch_pages`. `lost` must live as long.
void watch_pages(const std::byte* begin, std::size_t bytes, std::atomic<bool>* lost);
void unwatch_pages(const std::byte* begin);

/// Puts our handler (back) in front if another one was installed since, such as faulthandler's.
void ensure_page_guard();

}  // namespace graphmount
