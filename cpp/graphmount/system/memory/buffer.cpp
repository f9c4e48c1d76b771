#include "graphmount/system/memory/buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "graphmount/base/error.hpp"
#include "graphmount/system/files/system_calls.hpp"

namespace graphmount {
namespace {

// Below this, a system call for each array costs more than it gives back.
constexpr std::size_t kLeastPages = std::size_t{1} << 18;
constexpr std::size_t kLargePage = std::size_t{1} << 21;

}  // namespace

void* allocate_pages(std::size_t bytes, [[maybe_unused]] PageSize pages) {
  if (bytes < kLeastPages) {
    void* memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) throw OutOfMemory(bytes);
    return memory;
  }
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_POPULATE
  if (pages == PageSize::kSmallAtOnce) flags |= MAP_POPULATE;
#endif
  void* memory = system_call::map(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) throw OutOfMemory(bytes);
#ifdef MADV_HUGEPAGE
  if (pages == PageSize::kLarge && bytes >= kLargePage)
    system_call::advise_memory(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void* resize_pages(void* memory, std::size_t bytes, std::size_t new_bytes, PageSize pages) {
#ifdef MREMAP_MAYMOVE
  if (bytes >= kLeastPages && new_bytes >= kLeastPages) {
    void* moved = system_call::remap(memory, bytes, new_bytes);
    if (moved == MAP_FAILED) throw OutOfMemory(new_bytes);
    return moved;
  }
#endif
  void* moved = allocate_pages(new_bytes, pages);
  std::memcpy(moved, memory, std::min(bytes, new_bytes));
  free_pages(memory, bytes);
  return moved;
}

void free_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes < kLeastPages)
    std::free(memory);
  else
    system_call::unmap(memory, bytes);
}

}  // namespace graphmount
