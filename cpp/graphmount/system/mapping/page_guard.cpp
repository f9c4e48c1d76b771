#include "graphmount/system/mapping/page_guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <mutex>

#include "graphmount/system/threads/fork_safe_mutex.hpp"

namespace graphmount {
namespace {

// A list the signal handler can walk at any moment: entries are never freed, only reused, and the
// version is odd while one is being changed.
struct Region {
  std::atomic<std::uint32_t> version{0};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<std::atomic<bool>*> lost{nullptr};
  Region* next = nullptr;
};

std::atomic<Region*> g_regions{nullptr};
struct sigaction g_previous{};
std::atomic<bool> g_passed_on{false};

void assign(Region& region, std::uintptr_t begin, std::uintptr_t end, std::atomic<bool>* lost) {
  region.version.fetch_add(1);
  region.begin = begin;
  region.end = end;
  region.lost = lost;
  region.version.fetch_add(1);
}

bool cover_lost_page(std::uintptr_t address) {
  for (Region* region = g_regions; region != nullptr; region = region->next) {
    const std::uint32_t version = region->version;
    const std::uintptr_t begin = region->begin, end = region->end;
    std::atomic<bool>* lost = region->lost;
    if (version % 2 != 0 || region->version != version) continue;
    if (address < begin || address >= end) continue;
    // Truncation takes everything behind the page as well, so one mapping covers all of it.
    const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t page = address / page_bytes * page_bytes;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    if (mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, flags, -1, 0) == MAP_FAILED)
      return false;
    lost->store(true);
    return true;
  }
  return false;
}

void pass_on(int signal_number, siginfo_t* info, void* context) {
  if (g_previous.sa_handler == SIG_IGN && info->si_code <= 0) return;
  // A handler that restores ours and raises again (faulthandler does) must not come round twice.
  if (g_passed_on.exchange(true) || g_previous.sa_handler == SIG_DFL ||
      g_previous.sa_handler == SIG_IGN) {
    signal(signal_number, SIG_DFL);
    if (info->si_code <= 0) raise(signal_number);  // sent, not caused by an access: send it again
    return;
  }
  sigaction(signal_number, &g_previous, nullptr);
  if ((g_previous.sa_flags & SA_SIGINFO) != 0)
    g_previous.sa_sigaction(signal_number, info, context);
  else
    g_previous.sa_handler(signal_number);
}

void on_bus_error(int signal_number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code <= 0 || !cover_lost_page(reinterpret_cast<std::uintptr_t>(info->si_addr)))
    pass_on(signal_number, info, context);
  errno = saved_errno;
}

}  // namespace

void ensure_page_guard() {
  struct sigaction current{};
  sigaction(SIGBUS, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_bus_error) return;
  const std::lock_guard lock(fork_safe_mutex<Region>());
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  struct sigaction before{};
  if (sigaction(SIGBUS, &ours, &before) != 0) return;
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == on_bus_error) return;
  g_previous = before;
  g_passed_on = false;
}

void watch_pages(const std::byte* begin, std::size_t bytes, std::atomic<bool>* lost) {
  ensure_page_guard();
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::lock_guard lock(fork_safe_mutex<Region>());
  for (Region* region = g_regions; region != nullptr; region = region->next)
    if (region->begin == 0) return assign(*region, address, address + bytes, lost);
  auto* region = new Region;  // never freed: the handler may be looking at it
  assign(*region, address, address + bytes, lost);
  region->next = g_regions;
  g_regions = region;
}

void unwatch_pages(const std::byte* begin) {
  const std::lock_guard lock(fork_safe_mutex<Region>());
  for (Region* region = g_regions; region != nullptr; region = region->next)
    if (region->begin == reinterpret_cast<std::uintptr_t>(begin))
      return assign(*region, 0, 0, nullptr);
}

}  // namespace graphmount
