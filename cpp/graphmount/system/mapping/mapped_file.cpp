// With cachestat(2) for residency where the kernel has it (Linux 6.5).
#include "graphmount/system/mapping/mapped_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/system/files/file_descriptor.hpp"
#include "graphmount/system/files/regular_file.hpp"
#include "graphmount/system/mapping/page_guard.hpp"

#ifdef __linux__
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14; older C libraries do not know it
#endif
#endif

namespace graphmount {
namespace {

constexpr const char* kLostPage =
    "a page could not be read while mounted (the file was truncated for a while, or the disk "
    "failed); check the disk and mount the file again";

}  // namespace

struct MappedFile::OpenFile : RegularFile {
  OpenFile(RegularFile file, const std::filesystem::path& opened_as)
      : RegularFile(std::move(file)), path(opened_as.string()) {}

  std::string path;
};

std::shared_ptr<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  auto file = std::make_shared<OpenFile>(open_regular(path, "map"), path);
  return std::shared_ptr<MappedFile>(new MappedFile(std::move(file), MapMode::kGuarded));
}

std::shared_ptr<MappedFile> MappedFile::open(int descriptor, const std::filesystem::path& path) {
  FileDescriptor own(system_call::duplicate(descriptor));
  auto file = std::make_shared<OpenFile>(take_regular(std::move(own), path, "map"), path);
  return std::shared_ptr<MappedFile>(new MappedFile(std::move(file), MapMode::kGuarded));
}

std::shared_ptr<MappedFile> MappedFile::map_again(MapMode mode) const {
  return std::shared_ptr<MappedFile>(new MappedFile(file_, mode));
}

MappedFile::MappedFile(std::shared_ptr<const OpenFile> file, MapMode mode)
    : file_(std::move(file)), size_(file_->size), mode_(mode) {
  if (size_ == 0) return;  // mmap refuses empty files, and an empty span is all there is to show
  void* address = MAP_FAILED;
  if (mode == MapMode::kPrivate) {
    int flags = MAP_PRIVATE;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;  // else the kernel charges the whole file as if it were to be written
#endif
    address = system_call::map(nullptr, size_, PROT_READ | PROT_WRITE, flags,
                               file_->descriptor.number(), 0);
    writable_ = address != MAP_FAILED;
  }
  if (address == MAP_FAILED)
    address =
        system_call::map(nullptr, size_, PROT_READ, MAP_SHARED, file_->descriptor.number(), 0);
  if (address == MAP_FAILED) throw IoError(file_->path, "cannot map", errno);
  data_ = static_cast<std::byte*>(address);
  if (mode == MapMode::kGuarded) watch_pages(data_, size_, &page_lost_);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  if (mode_ == MapMode::kGuarded) unwatch_pages(data_);
  system_call::unmap(data_, size_);
}

const std::string& MappedFile::path() const {
  return file_->path;
}

void MappedFile::before_read() const {
  ensure_page_guard();
  if (page_lost_) require_intact();
}

void MappedFile::require_intact() const {
  struct stat status{};
  const bool known = system_call::fstat(file_->descriptor.number(), status) == 0;
  const std::uint64_t size = known ? static_cast<std::uint64_t>(status.st_size) : size_;
  if (size < size_) {
    throw FileChangedError(path(),
                           say("was truncated from ", size_, " to ", size,
                               " bytes while mounted; restore the file and mount it again"));
  }
  if (page_lost_) throw FileChangedError(path(), kLostPage);
}

std::size_t MappedFile::read_start(std::span<std::byte> out) const {
  const auto got = file_->descriptor.read_at(0, out);
  if (!got) throw IoError(path(), "cannot read", errno);
  return *got;
}

FileDescriptor MappedFile::open_again(int flags) const {
  // Through the descriptor, which leads to the file itself whatever its name is now.
#ifdef __linux__
  const std::string link = say("/proc/self/fd/", file_->descriptor.number());
#else
  const std::string link = say("/dev/fd/", file_->descriptor.number());
#endif
  return FileDescriptor::open(link, flags);
}

void MappedFile::advise(Advice advice, std::uint64_t offset, std::uint64_t bytes) const {
  if (offset >= size_ || bytes == 0) return;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset / page_bytes * page_bytes;
  const std::uint64_t end = std::min(size_, offset + std::min(bytes, size_ - offset));
  int code = MADV_NORMAL;
  switch (advice) {
    case Advice::kNormal:
      break;
    case Advice::kRandom:
      code = MADV_RANDOM;
      break;
    case Advice::kSequential:
      code = MADV_SEQUENTIAL;
      break;
    case Advice::kWillNeed:
      // Only an offer: where it is refused, pages come when they are touched.
      static_cast<void>(system_call::advise_memory(data_ + begin, end - begin, MADV_WILLNEED));
      return;
    case Advice::kPopulate:
#ifdef MADV_POPULATE_READ
      if (system_call::advise_memory(data_ + begin, end - begin, MADV_POPULATE_READ) == 0) return;
      if (errno == EFAULT || errno == EIO || errno == EHWPOISON) {
        require_intact();
        throw FileChangedError(path(), kLostPage);
      }
#endif
      // An older kernel, or another system: ask for the pages, then touch each of them, where a
      // page that is gone does no harm.
      system_call::advise_memory(data_ + begin, end - begin, MADV_WILLNEED);
      if (mode_ != MapMode::kGuarded) return;
      for (std::uint64_t at = begin; at < end; at += page_bytes)
        static_cast<void>(*static_cast<const volatile std::byte*>(data_ + at));
      return;
  }
  if (system_call::advise_memory(data_ + begin, end - begin, code) != 0)
    throw IoError(path(), "cannot advise the system about the mapping", errno);
}

namespace {

#if defined(__linux__)
// The kernel answers only those who own the file or may write to it.
std::optional<std::uint64_t> cached_pages(int descriptor, std::uint64_t offset,
                                          std::uint64_t bytes) {
  struct {
    std::uint64_t offset, bytes;
  } range{offset, bytes};
  struct {
    std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } counts{};
  if (system_call::cachestat(descriptor, &range, &counts) != 0) return std::nullopt;
  return counts.cached;
}

// An estimate: tries to read some pages, chosen at random, without waiting for the disk. A page
// that is not there gets read all the same a little later, hence only some, chosen anew each time.
std::optional<std::uint64_t> estimate_pages(const FileDescriptor& own, std::uint64_t first,
                                            std::uint64_t count) {
  if (!own) return std::nullopt;
  system_call::advise_file(own.number(), 0, 0, POSIX_FADV_RANDOM);  // no more than the page itself
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t kProbes = 1024;
  std::mt19937_64 random{std::random_device{}()};
  std::uint64_t probes = 0, hits = 0;
  for (; probes < std::min(kProbes, count); ++probes) {
    const std::uint64_t page = first + random() % count;
    std::byte byte;
    const ssize_t got =
        system_call::preadv2(own.number(), {&byte, 1}, page * page_bytes, RWF_NOWAIT);
    if (got < 0 && errno != EAGAIN) break;  // not on this file system
    hits += got == 1;
  }
  if (probes < std::min(kProbes, count)) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<double>(hits) / static_cast<double>(probes) *
                                    static_cast<double>(count));
}
#else
std::optional<std::uint64_t> core_pages(std::byte* begin, std::uint64_t bytes,
                                        std::uint64_t page_bytes) {
  std::vector<char> present((bytes + page_bytes - 1) / page_bytes);
  if (mincore(reinterpret_cast<char*>(begin), bytes, present.data()) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(
      std::count_if(present.begin(), present.end(), [](char c) { return (c & 1) != 0; }));
}
#endif

}  // namespace

std::optional<std::uint64_t> MappedFile::resident_bytes(std::uint64_t offset,
                                                        std::uint64_t bytes) const {
  if (offset >= size_ || bytes == 0) return 0;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset / page_bytes * page_bytes;
  const std::uint64_t end = offset + std::min(bytes, size_ - offset);
#if defined(__linux__)
  // Not mincore: it says "resident" of every page to those who do not own the file.
  std::optional<std::uint64_t> pages = cached_pages(file_->descriptor.number(), begin, end - begin);
  if (!pages)
    pages = estimate_pages(open_again(O_RDONLY), begin / page_bytes,
                           (end - begin + page_bytes - 1) / page_bytes);
#else
  const std::optional<std::uint64_t> pages = core_pages(data_ + begin, end - begin, page_bytes);
#endif
  if (!pages) return std::nullopt;
  return std::min(*pages * page_bytes, end - begin);
}

}  // namespace graphmount
