// The structures and numbers are those of linux/io_uring.h, written out: the header that comes with
// a C library may be older than the kernel, or missing.
#include "graphmount/system/disk/uring.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace graphmount {

struct Uring::Entry {
  std::uint8_t opcode, flags;
  std::uint16_t priority;
  std::int32_t file;
  std::uint64_t offset;
  std::uint64_t address;
  std::uint32_t bytes;
  std::uint32_t read_flags;
  std::uint64_t tag;
  std::uint16_t buffer;
  std::uint16_t personality;
  std::uint32_t reserved[5];
};

struct Uring::Params {
  std::uint32_t submit_entries, complete_entries, flags, submit_cpu, submit_idle, features, queue;
  std::uint32_t reserved[3];
  struct {
    std::uint32_t head, tail, ring_mask, ring_entries, flags, dropped, array, reserved;
    std::uint64_t address;
  } submit;
  struct {
    std::uint32_t head, tail, ring_mask, ring_entries, overflow, completions, flags, reserved;
    std::uint64_t address;
  } complete;
};

namespace {

constexpr std::uint32_t kCooperative = 1U << 8;    // IORING_SETUP_COOP_TASKRUN, Linux 5.19
constexpr std::uint32_t kHasPlainReads = 1U << 3;  // IORING_FEAT_RW_CUR_POS, Linux 5.6
constexpr std::uint64_t kQueuesOffset = 0, kEntriesOffset = 0x10000000;
constexpr unsigned kGetEvents = 1;
constexpr unsigned kRegisterBuffers = 0, kRegisterFiles = 2;
constexpr std::uint8_t kReadFixed = 4, kRead = 22;
constexpr std::uint8_t kFixedFile = 1;
constexpr unsigned kMostRefusals = 10'000, kRefusalMicroseconds = 1000;  // ten seconds in all

struct KernelCompletion {
  std::uint64_t tag;
  std::int32_t result;
  std::uint32_t flags;
};

[[noreturn]] void throw_error(const char* operation, int code) {
  throw std::system_error(code, std::generic_category(), operation);
}

}  // namespace

Uring::Uring(unsigned depth, int descriptor, std::span<std::byte> memory) {
  static_assert(sizeof(Entry) == 64 && sizeof(Params) == 120 && sizeof(KernelCompletion) == 16);
  Params params{};
  // Completions wait until we ask for them, rather than interrupt us.
  params.flags = kCooperative;
  ring_ = FileDescriptor(system_call::uring_setup(depth, &params));
  if (!ring_ && errno == EINVAL) {
    params = {};
    ring_ = FileDescriptor(system_call::uring_setup(depth, &params));
  }
  if (!ring_) throw_error("io_uring_setup", errno);
  try {
    if ((params.features & kHasPlainReads) == 0) throw_error("io_uring_setup", ENOSYS);
    map_queues(params);
    register_file(descriptor);
    register_memory(memory);
  } catch (...) {
    release();
    throw;
  }
}

Uring::~Uring() {
  release();
}

void Uring::release() noexcept {
  if (entries_ != nullptr) system_call::unmap(entries_, entries_bytes_);
  if (queues_ != nullptr) system_call::unmap(queues_, queues_bytes_);
  ring_.close();
}

void Uring::map_queues(const Params& params) {
  const auto map = [&](std::size_t bytes, std::uint64_t offset) {
    void* const address = system_call::map(nullptr, bytes, PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_POPULATE, ring_.number(), offset);
    if (address == MAP_FAILED) throw_error("mapping an io_uring", errno);
    return static_cast<std::byte*>(address);
  };
  // Both queues are one mapping since Linux 5.4.
  queues_bytes_ =
      std::max(params.submit.array + params.submit_entries * sizeof(std::uint32_t),
               params.complete.completions + params.complete_entries * sizeof(KernelCompletion));
  queues_ = map(queues_bytes_, kQueuesOffset);
  entries_bytes_ = params.submit_entries * sizeof(Entry);
  entries_ = reinterpret_cast<Entry*>(map(entries_bytes_, kEntriesOffset));
  const auto number_at = [&](std::uint32_t offset) {
    return reinterpret_cast<std::uint32_t*>(queues_ + offset);
  };
  submit_tail_ = number_at(params.submit.tail);
  submit_mask_ = *number_at(params.submit.ring_mask);
  complete_head_ = number_at(params.complete.head);
  complete_tail_ = number_at(params.complete.tail);
  complete_mask_ = *number_at(params.complete.ring_mask);
  completions_ = queues_ + params.complete.completions;
  // Place i of the queue is entry i, for good.
  std::uint32_t* const array = number_at(params.submit.array);
  for (std::uint32_t i = 0; i < params.submit_entries; ++i) array[i] = i;
}

void Uring::register_file(int descriptor) {
  if (system_call::uring_register(ring_.number(), kRegisterFiles, &descriptor, 1) != 0)
    throw_error("io_uring_register of a file", errno);
}

void Uring::register_memory(std::span<std::byte> memory) {
  // Registered memory counts against RLIMIT_MEMLOCK. Reads work without, a little slower.
  iovec vector{memory.data(), memory.size()};
  memory_registered_ =
      system_call::uring_register(ring_.number(), kRegisterBuffers, &vector, 1) == 0;
}

void Uring::queue_read(std::uint64_t offset, std::byte* out, std::uint32_t bytes,
                       std::uint64_t tag) {
  const std::uint32_t tail = *submit_tail_;  // only we write it
  Entry& entry = entries_[tail & submit_mask_];
  entry = {};
  entry.opcode = memory_registered_ ? kReadFixed : kRead;
  entry.flags = kFixedFile;
  entry.offset = offset;
  entry.address = reinterpret_cast<std::uint64_t>(out);
  entry.bytes = system_call::uring_read_bytes(bytes);
  entry.tag = tag;
  std::atomic_ref(*submit_tail_).store(tail + 1, std::memory_order_release);
  ++num_queued_;
}

void Uring::submit_and_wait(unsigned least) {
  for (;;) {
    const int taken = system_call::uring_enter(ring_.number(), num_queued_, least, kGetEvents);
    if (taken >= 0) {
      num_queued_ -= static_cast<std::uint32_t>(taken);
      num_refusals_ = 0;
      return;
    }
    if (errno == EINTR) continue;
    // The system is short of memory, or of room for completions: let the caller take some.
    const int code = errno;
    if ((code != EAGAIN && code != EBUSY) || ++num_refusals_ > kMostRefusals)
      throw_error("io_uring_enter", code);
    usleep(kRefusalMicroseconds);
    return;
  }
}

bool Uring::take(Completion& completion) {
  const std::uint32_t head = *complete_head_;  // only we write it
  if (head == std::atomic_ref(*complete_tail_).load(std::memory_order_acquire)) return false;
  const auto& found =
      reinterpret_cast<const KernelCompletion*>(completions_)[head & complete_mask_];
  completion = {found.tag, system_call::uring_result(found.result)};
  std::atomic_ref(*complete_head_).store(head + 1, std::memory_order_release);
  return true;
}

}  // namespace graphmount
