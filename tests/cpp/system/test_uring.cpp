// The ring itself: what is queued is read, completions carry their tags, errors their codes.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "check.hpp"
#include "child_process.hpp"
#include "graphmount/system/disk/uring.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

#ifdef __linux__
namespace {

constexpr unsigned kDepth = 8;

struct Fixture {
  TemporaryFolder folder;
  std::vector<std::byte> memory = std::vector<std::byte>(kDepth * 512);
  int descriptor = -1;

  explicit Fixture(int flags = O_RDONLY) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += static_cast<char>(i % 251);
    std::ofstream(folder / "file", std::ios::binary) << text;
    descriptor = open((folder / "file").c_str(), flags);
  }
  ~Fixture() { close(descriptor); }

  Uring ring() {
    try {
      return Uring(kDepth, descriptor, memory);
    } catch (const std::system_error& error) {
      skip(std::string("no io_uring here: ") + error.what());
    }
  }
};

std::vector<Uring::Completion> take_all(Uring& ring, unsigned count) {
  std::vector<Uring::Completion> taken;
  while (taken.size() < count) {
    ring.submit_and_wait(1);
    for (Uring::Completion completion{}; ring.take(completion);) taken.push_back(completion);
  }
  return taken;
}

}  // namespace

TEST(reads_what_is_queued) {
  Fixture fixture;
  Uring ring = fixture.ring();
  for (unsigned round = 0; round < 100; ++round) {  // the queues go round many times
    for (unsigned i = 0; i < kDepth; ++i)
      ring.queue_read(i * 1000 + round, fixture.memory.data() + i * 512, 512, i);
    for (const Uring::Completion& completion : take_all(ring, kDepth)) {
      CHECK_EQUAL(completion.result, 512);
      for (std::uint64_t j = 0; j < 512; ++j)
        CHECK(fixture.memory[completion.tag * 512 + j] ==
              static_cast<std::byte>((completion.tag * 1000 + round + j) % 251));
    }
  }
  Uring::Completion none{};
  CHECK(!ring.take(none));
}

TEST(the_end_of_the_file_is_a_short_read) {
  Fixture fixture;
  Uring ring = fixture.ring();
  ring.queue_read(9900, fixture.memory.data(), 512, 1);
  CHECK_EQUAL(take_all(ring, 1)[0].result, 100);
  ring.queue_read(20'000, fixture.memory.data(), 512, 2);
  CHECK_EQUAL(take_all(ring, 1)[0].result, 0);
}

TEST(errors_come_with_their_codes) {
  Fixture fixture(O_WRONLY);
  Uring ring = fixture.ring();
  ring.queue_read(0, fixture.memory.data(), 512, 7);
  const auto taken = take_all(ring, 1);
  CHECK_EQUAL(taken[0].tag, 7U);
  CHECK_EQUAL(taken[0].result, -EBADF);
}

TEST(memory_that_may_not_be_registered) {
  if (geteuid() != 0) skip("becoming another user needs root");
  Fixture fixture;
  static_cast<void>(fixture.ring());
  const int status = run_in_child([&] {
    const rlimit little{1 << 16, 1 << 16};  // enough for the queues
    fixture.memory.resize(1 << 20);
    CHECK_EQUAL(setrlimit(RLIMIT_MEMLOCK, &little), 0);
    CHECK_EQUAL(seteuid(65534), 0);
    Uring ring(kDepth, fixture.descriptor, fixture.memory);
    ring.queue_read(1000, fixture.memory.data(), 512, 1);
    CHECK_EQUAL(take_all(ring, 1)[0].result, 512);
    CHECK(fixture.memory[5] == static_cast<std::byte>(1005 % 251));
  });
  CHECK(is_success(status));
}

TEST(a_ring_needs_a_file) {
  Fixture fixture;
  static_cast<void>(fixture.ring());  // skips where there are none
  CHECK_THROWS(Uring(kDepth, -5, fixture.memory), std::system_error);
}
#endif
