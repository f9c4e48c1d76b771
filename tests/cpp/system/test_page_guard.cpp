// The SIGBUS handler: lost pages of watched memory become zeros and a flag, every other SIGBUS ends
// where it would have ended without us. What may end the process runs in a child.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "forged_file.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"
#include "graphmount/system/mapping/page_guard.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

constexpr std::size_t kBytes = 256 * 1024;

// A plain mapping of a file that is then cut off: reading it raises SIGBUS.
class LostPages {
 public:
  explicit LostPages(std::size_t bytes_left = 0) {
    write_bytes(folder_ / "file", Bytes(kBytes, std::byte{7}));
    const int descriptor = open((folder_ / "file").c_str(), O_RDONLY | O_CLOEXEC);
    void* address = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, descriptor, 0);
    close(descriptor);
    CHECK(address != MAP_FAILED);
    data_ = static_cast<std::byte*>(address);
    std::filesystem::resize_file(folder_ / "file", bytes_left);
  }
  ~LostPages() { munmap(data_, kBytes); }
  LostPages(const LostPages&) = delete;
  LostPages& operator=(const LostPages&) = delete;

  std::byte* data() const { return data_; }
  std::byte read(std::size_t at = 0) const {
    return *static_cast<const volatile std::byte*>(data_ + at);
  }

 private:
  TemporaryFolder folder_;
  std::byte* data_ = nullptr;
};

// Sanitizers bring a handler of their own, which would stand for "what was there before".
void use_default_handler() {
  signal(SIGBUS, SIG_DFL);
}

void exit_with_42(int) {
  _exit(42);
}
void exit_with_43(int, siginfo_t* info, void*) {
  _exit(info->si_addr != nullptr ? 43 : 1);
}
std::byte* g_repairable = nullptr;
void put_a_page_there(int, siginfo_t*, void*) {
  mmap(g_repairable, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void install(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

bool exits_with(int status, int code) {
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

}  // namespace

TEST(watched_pages_become_zeros_and_a_flag) {
  const LostPages pages(128 * 1024);
  std::atomic<bool> lost = false;
  watch_pages(pages.data(), kBytes, &lost);
  CHECK(pages.read(0) == std::byte{7});
  CHECK(!lost);
  CHECK(pages.read(kBytes - 1) == std::byte{0});
  CHECK(lost);
  CHECK(pages.read(0) == std::byte{7});  // what is still in the file stays
  unwatch_pages(pages.data());
}

TEST(many_threads_may_meet_the_loss) {
  const LostPages pages;
  std::atomic<bool> lost = false;
  watch_pages(pages.data(), kBytes, &lost);
  std::vector<std::thread> readers;
  std::atomic<int> not_zero = 0;
  for (int reader = 0; reader < 8; ++reader) {
    readers.emplace_back([&] {
      for (std::size_t at = 0; at < kBytes; at += 1024)
        if (pages.read(kBytes - 1 - at) != std::byte{0}) ++not_zero;
    });
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(lost);
  CHECK_EQUAL(not_zero.load(), 0);
  unwatch_pages(pages.data());
}

TEST(each_region_has_its_own_flag) {
  const LostPages first, second, third;
  std::atomic<bool> lost[3] = {false, false, false};
  watch_pages(first.data(), kBytes, &lost[0]);
  watch_pages(second.data(), kBytes, &lost[1]);
  watch_pages(third.data(), kBytes, &lost[2]);
  second.read();
  CHECK(!lost[0] && lost[1] && !lost[2]);
  unwatch_pages(first.data());
  watch_pages(first.data(), kBytes, &lost[0]);  // takes up the entry that became free
  first.read();
  CHECK(lost[0] && !lost[2]);
  for (const LostPages* pages : {&first, &second, &third}) unwatch_pages(pages->data());
}

TEST(unwatched_memory_still_kills_by_sigbus) {
  const int status = run_in_child([] {
    use_default_handler();
    const LostPages watched, other;
    std::atomic<bool> lost = false;
    watch_pages(watched.data(), kBytes, &lost);
    watched.read();
    CHECK(lost);
    other.read();
  });
  CHECK(is_death_by(status, SIGBUS));
}

TEST(memory_that_was_unwatched_still_kills_by_sigbus) {
  const int status = run_in_child([] {
    use_default_handler();
    const LostPages pages;
    std::atomic<bool> lost = false;
    watch_pages(pages.data(), kBytes, &lost);
    unwatch_pages(pages.data());
    pages.read();
  });
  CHECK(is_death_by(status, SIGBUS));
}

TEST(a_sigbus_that_was_sent_still_kills) {
  const int status = run_in_child([] {
    use_default_handler();
    ensure_page_guard();
    kill(getpid(), SIGBUS);
  });
  CHECK(is_death_by(status, SIGBUS));
}

TEST(a_sigbus_that_was_sent_is_still_ignored) {
  const int status = run_in_child([] {
    signal(SIGBUS, SIG_IGN);
    ensure_page_guard();
    kill(getpid(), SIGBUS);
    kill(getpid(), SIGBUS);
  });
  CHECK(is_success(status));
}

TEST(an_earlier_handler_gets_foreign_faults) {
  const int plain = run_in_child([] {
    signal(SIGBUS, exit_with_42);
    ensure_page_guard();
    LostPages().read();
  });
  CHECK(exits_with(plain, 42));
  const int with_info = run_in_child([] {
    install(exit_with_43);
    ensure_page_guard();
    LostPages().read();
  });
  CHECK(exits_with(with_info, 43));
}

TEST(an_earlier_handler_may_repair_and_go_on) {
  const int status = run_in_child([] {
    install(put_a_page_there);
    const LostPages watched, foreign, again;
    std::atomic<bool> lost = false;
    watch_pages(watched.data(), kBytes, &lost);
    g_repairable = foreign.data();
    CHECK(foreign.read() == std::byte{0});
    CHECK(!lost);
    ensure_page_guard();
    CHECK(watched.read() == std::byte{0});
    CHECK(lost);
    g_repairable = again.data();
    CHECK(again.read() == std::byte{0});
  });
  CHECK(is_success(status));
}

TEST(a_later_handler_is_put_behind_ours_by_the_next_read) {
  const int status = run_in_child([] {
    use_default_handler();
    const TemporaryFolder folder;
    write_bytes(folder / "file", Bytes(kBytes, std::byte{7}));
    const auto file = MappedFile::open(folder / "file");
    install(exit_with_43);
    std::filesystem::resize_file(folder / "file", 0);
    const auto read = [&] { return file->bytes()[kBytes - 1]; };
    CHECK_THROWS(file->read_guarded(read), FileChangedError);
    LostPages().read();  // not ours, so the later handler gets it
  });
  CHECK(exits_with(status, 43));
}

TEST(a_later_handler_that_restores_ours_and_raises_does_not_go_round) {
  const int status = run_in_child([] {
    use_default_handler();
    ensure_page_guard();
    // What Python's faulthandler does: put back what was there before, and raise again.
    static struct sigaction before{};
    struct sigaction theirs{};
    theirs.sa_handler = [](int number) {
      sigaction(SIGBUS, &before, nullptr);
      raise(number);
    };
    theirs.sa_flags = SA_NODEFER;
    sigaction(SIGBUS, &theirs, &before);
    ensure_page_guard();
    LostPages().read();
  });
  CHECK(is_death_by(status, SIGBUS));
}

TEST(works_on_in_a_child) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", Bytes(kBytes, std::byte{7}));
  const auto file = MappedFile::open(folder / "file");
  const auto read = [&] { return file->bytes()[kBytes - 1]; };
  const int status = run_in_child([&] {
    std::filesystem::resize_file(folder / "file", 4096);
    CHECK_THROWS(file->read_guarded(read), FileChangedError);
    write_bytes(folder / "second", Bytes(kBytes));
    MappedFile::open(folder / "second");
  });
  CHECK(is_success(status));
  CHECK_THROWS(file->read_guarded(read), FileChangedError);
}

TEST(guards_the_threads_of_the_pool) {
  set_num_threads(4);
  const TemporaryFolder folder;
  write_bytes(folder / "file", Bytes(kBytes, std::byte{7}));
  const auto file = MappedFile::open(folder / "file");
  std::filesystem::resize_file(folder / "file", 0);
  const auto read = [&] {
    std::atomic<int> sum = 0;
    parallel_for(kBytes, 1000, [&](std::size_t begin, std::size_t) {
      sum += std::to_integer<int>(file->bytes()[begin]);
    });
  };
  CHECK_THROWS(file->read_guarded(read), FileChangedError);
}

TEST(maps_and_unmaps_from_many_threads) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", Bytes(kBytes, std::byte{7}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const auto file = MappedFile::open(folder / "file");
        if (file->read_guarded([&] { return file->bytes()[1000]; }) != std::byte{7}) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0);
}
