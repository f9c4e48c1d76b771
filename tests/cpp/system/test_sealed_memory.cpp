// Sealed memory shows other processes what was filled in, and nobody can change it.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/memory/sealed_memory.hpp"
#include "temporary_folder.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

std::shared_ptr<const SealedMemory> make(std::size_t bytes) {
  return SealedMemory::make(bytes, [](std::span<std::byte> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i * 7);
  });
}

bool is_as_filled(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>(i * 7)) return false;
  return true;
}

}  // namespace

TEST(another_owner_sees_the_same_bytes) {
  for (const std::size_t size : {0, 1, 4096, 100'000}) {
    auto made = make(size);
    const auto taken = SealedMemory::of(made->descriptor(), size);
    CHECK_EQUAL(taken->bytes().size(), size);
    CHECK(is_as_filled(made->bytes()));
    made.reset();  // its maker is gone
    CHECK(is_as_filled(taken->bytes()));
  }
}

TEST(nobody_can_change_it) {
  const auto made = make(4096);
  const int descriptor = made->descriptor();
  CHECK_EQUAL(write(descriptor, "x", 1), -1);
  CHECK_EQUAL(errno, EPERM);
  CHECK_EQUAL(ftruncate(descriptor, 10), -1);
  CHECK_EQUAL(ftruncate(descriptor, 10'000), -1);
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) == MAP_FAILED);
  CHECK_EQUAL(fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE), -1);
  CHECK(is_as_filled(made->bytes()));
  // Who insists on writing to its own pages has a copy of them, which nobody else sees.
  auto* const own = const_cast<std::byte*>(made->bytes().data());
  CHECK_EQUAL(mprotect(own, 4096, PROT_READ | PROT_WRITE), 0);
  own[7] ^= std::byte{0xff};
  CHECK(is_as_filled(SealedMemory::of(descriptor, 4096)->bytes()));
}

TEST(a_child_has_it_and_the_parent_keeps_it) {
  const auto made = make(50'000);
  const pid_t child = fork();
  if (child == 0) _exit(is_as_filled(made->bytes()) ? 0 : 1);
  int status = -1;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK(is_as_filled(made->bytes()));
}

TEST(what_could_still_change_is_refused) {
  const auto made = make(4096);
  CHECK_THROWS_WITH(SealedMemory::of(made->descriptor(), 4095), std::invalid_argument,
                    "has 4096 bytes, not 4095");
  const int open = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  CHECK_EQUAL(ftruncate(open, 4096), 0);
  CHECK_THROWS_WITH(SealedMemory::of(open, 4096), std::invalid_argument, "not sealed");
  CHECK_EQUAL(fcntl(open, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SEAL), 0);
  CHECK_THROWS_WITH(SealedMemory::of(open, 4096), std::invalid_argument, "not sealed");
  close(open);
  const TemporaryFolder folder;
  const FileDescriptor file =
      FileDescriptor::open(folder / "file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file.resize(4096));
  CHECK_THROWS_WITH(SealedMemory::of(file.number(), 4096), std::invalid_argument, "not sealed");
  CHECK_THROWS(SealedMemory::of(-1, 4096), IoError);
}

TEST(what_filling_throws_leaves_nothing) {
  CHECK_THROWS_WITH(
      SealedMemory::make(4096, [](std::span<std::byte>) { throw std::runtime_error("no rows"); }),
      std::runtime_error, "no rows");
}
