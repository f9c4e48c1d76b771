#include "graphmount/system/memory/sealed_memory.hpp"

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "graphmount/base/error.hpp"

namespace graphmount {
namespace {

constexpr const char* kName = "memory that processes share";

#ifdef __linux__

constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/// A mapping that is gone at the end, so that what it maps can be sealed.
class Mapping {
 public:
  Mapping(int descriptor, std::size_t bytes, int protection, int flags) : bytes_(bytes) {
    data_ = system_call::map(nullptr, bytes, protection, flags, descriptor, 0);
    if (data_ == MAP_FAILED) throw IoError(kName, "cannot map", errno);
#ifdef MADV_HUGEPAGE
    // Rows are read at random. Only an offer.
    static_cast<void>(system_call::advise_memory(data_, bytes, MADV_HUGEPAGE));
#endif
  }
  ~Mapping() {
    if (data_ != nullptr) system_call::unmap(data_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<std::byte> span() const { return {static_cast<std::byte*>(data_), bytes_}; }
  std::byte* release() { return static_cast<std::byte*>(std::exchange(data_, nullptr)); }

 private:
  void* data_;
  std::size_t bytes_;
};

#endif

}  // namespace

#ifdef __linux__

SealedMemory::SealedMemory(FileDescriptor descriptor, std::size_t size)
    : descriptor_(std::move(descriptor)), size_(size) {
  // Nobody can write to it, so private pages are the same ones. Older kernels are said to refuse a
  // shared mapping of what is sealed, even to read it.
  if (size_ != 0) data_ = Mapping(descriptor_.number(), size_, PROT_READ, MAP_PRIVATE).release();
}

SealedMemory::~SealedMemory() {
  if (data_ != nullptr) system_call::unmap(const_cast<std::byte*>(data_), size_);
}

std::shared_ptr<const SealedMemory> SealedMemory::make(std::size_t bytes, const Fill& fill) {
  FileDescriptor descriptor(system_call::make_shared_memory("graphmount"));
  if (!descriptor) throw IoError(kName, "cannot make", errno);
  if (!descriptor.resize(bytes)) throw IoError(kName, "cannot make", errno);
  if (bytes == 0) {
    fill({});
  } else {
    const Mapping mapping(descriptor.number(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    fill(mapping.span());
  }
  if (system_call::add_seals(descriptor.number(), kSeals) != 0)
    throw IoError(kName, "cannot seal", errno);
  return std::shared_ptr<const SealedMemory>(new SealedMemory(std::move(descriptor), bytes));
}

std::shared_ptr<const SealedMemory> SealedMemory::of(int descriptor, std::size_t bytes) {
  FileDescriptor own(system_call::duplicate(descriptor));
  if (!own) throw IoError(kName, "cannot take", errno);
  // A file has no seals, and whoever may still write or cut it off could end this process.
  const int seals = system_call::seals_of(own.number());
  if (seals < 0 || (seals & kSeals) != kSeals)
    throw std::invalid_argument(
        "the memory is not sealed, so that another process could change it");
  struct stat status{};
  if (system_call::fstat(own.number(), status) != 0) throw IoError(kName, "cannot take", errno);
  if (static_cast<std::uint64_t>(status.st_size) != bytes)
    throw std::invalid_argument(
        say("the memory has ", static_cast<std::int64_t>(status.st_size), " bytes, not ", bytes));
  return std::shared_ptr<const SealedMemory>(new SealedMemory(std::move(own), bytes));
}

#else

SealedMemory::SealedMemory(FileDescriptor descriptor, std::size_t size)
    : descriptor_(std::move(descriptor)), size_(size) {}
SealedMemory::~SealedMemory() = default;

std::shared_ptr<const SealedMemory> SealedMemory::make(std::size_t, const Fill&) {
  throw IoError(kName, "cannot make", ENOSYS);
}
std::shared_ptr<const SealedMemory> SealedMemory::of(int, std::size_t) {
  throw IoError(kName, "cannot take", ENOSYS);
}

#endif

}  // namespace graphmount
