#include "graphmount/system/disk/disk_probe.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "graphmount/base/error.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"

#ifdef __linux__
#include "graphmount/system/disk/ring_reads.hpp"
#endif

namespace graphmount {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kPageBytes = 4096;  // the smallest there is: touching more does no harm
constexpr std::uint64_t kMostReadBytes = std::uint64_t{1} << 24;
constexpr unsigned kMostDepth = 1024;

std::uint64_t pattern_word(std::uint64_t key, std::uint64_t offset) {
  return RandomKey(key).with(offset / kWordBytes).bits();
}

// Memory for `count` reads, which begins at a page, and has all its pages.
Buffer<std::byte> read_memory(std::uint64_t count, std::uint64_t read_bytes) {
  constexpr std::uint64_t kLeastPages = std::uint64_t{1} << 18;
  Buffer<std::byte> memory(std::max(kLeastPages, count * read_bytes));
  std::fill_n(memory.data(), memory.size(), std::byte{0});
  return memory;
}

}  // namespace

void fill_probe_pattern(std::span<std::uint64_t> out, std::uint64_t offset, std::uint64_t key) {
  if (offset % kWordBytes != 0)
    throw std::invalid_argument(say("the pattern begins at multiples of 8, not at byte ", offset));
  parallel_each(out.size(), balanced_grain(out.size(), 1 << 16),
                [&](std::size_t i) { out[i] = pattern_word(key, offset + i * kWordBytes); });
}

// Which block is next, for many threads: all of them once before any comes again, in order or
// scrambled. Ends with the time, or after one round if blocks would come from memory then, but not
// before one block: threads that others kept waiting all the time would say that a disk does
// nothing.
class DiskProbe::Places {
 public:
  Places(std::uint64_t count, const ProbeOptions& options, RandomKey key, bool rounds)
      : count_(count),
        key_(key),
        bits_(static_cast<unsigned>(std::bit_width(count - 1))),
        in_order_(options.in_order),
        rounds_(rounds),
        duration_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(options.seconds))) {}

  /// Called when everything is ready: making it so is not reading.
  void start() {
    begin_ = Clock::now();
    deadline_ = begin_ + duration_;
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  bool next(std::uint64_t& block) {
    const bool is_first = !has_begun_.exchange(true, std::memory_order_relaxed);
    for (;;) {
      if (Clock::now() >= deadline_ && !is_first) return false;
      const std::uint64_t ticket = next_.fetch_add(1, std::memory_order_relaxed);
      const std::uint64_t round = ticket >> bits_;
      if (round > 0 && !rounds_) return false;
      block = ticket & mask();
      if (!in_order_) block = scrambled(block, round);
      if (block < count_) return true;
    }
  }

 private:
  std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }

  // A bijection of the numbers of so many bits: each step can be undone.
  std::uint64_t scrambled(std::uint64_t number, std::uint64_t round) const {
    constexpr std::uint64_t kOdd[] = {0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0xD1342543DE82EF95};
    number ^= key_.with(round).bits() & mask();
    for (const std::uint64_t odd : kOdd) {
      number = number * odd & mask();
      number ^= number >> (bits_ / 2 + 1);
    }
    return number;
  }

  std::uint64_t count_;
  RandomKey key_;
  unsigned bits_;
  bool in_order_, rounds_;
  Clock::duration duration_;
  Clock::time_point begin_, deadline_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> has_begun_ = false;
};

DiskProbe::DiskProbe(const std::filesystem::path& path, std::optional<std::uint64_t> key)
    : file_(MappedFile::open(path)), key_(key) {
  try {
    blocks_ = std::make_unique<BlockFile>(*file_, true);
  } catch (const IoError& error) {
    why_not_direct_ = std::generic_category().message(error.code());
    blocks_ = std::make_unique<BlockFile>(*file_, false);
  }
}

ProbeResult DiskProbe::run(const ProbeOptions& options) const {
  const std::uint64_t unit = std::max(blocks_->block_bytes(), kPageBytes);
  if (options.read_bytes == 0 || options.read_bytes % unit != 0 ||
      options.read_bytes > kMostReadBytes)
    throw std::invalid_argument(say("reads are of a multiple of ", unit,
                                    " bytes, at most 16 MiB, not of ", options.read_bytes));
  if (options.depth == 0 || options.depth > kMostDepth)
    throw std::invalid_argument(say("the depth is from 1 to 1024, not ", options.depth));
  if (!(options.seconds >= 0 && options.seconds <= 3600))
    throw std::invalid_argument("a probe takes from 0 to 3600 seconds");
  const std::uint64_t count = file_->size() / options.read_bytes;
  if (count == 0)
    throw std::invalid_argument(
        say(file_->path(), " is shorter than one read of ", options.read_bytes, " bytes"));
  const bool is_cached = options.way == ProbeWay::kMapped || !blocks_->is_direct();
  if (is_cached) drop_from_cache();
  // Each run begins elsewhere: disks have caches of their own.
  Places places(count, options, RandomKey(num_runs_.fetch_add(1)), !is_cached);
  ProbeResult result;
  switch (options.way) {
    case ProbeWay::kMapped:
      result.reads = run_mapped(options, places);
      break;
    case ProbeWay::kPread:
      result.reads = run_pread(options, places);
      break;
    case ProbeWay::kUring:
      result.reads = run_uring(options, places);
      break;
  }
  result.seconds = places.seconds();
  return result;
}

std::optional<std::uint64_t> DiskProbe::undropped_bytes() const {
  drop_from_cache();
  return file_->resident_bytes(0, file_->size());
}

void DiskProbe::drop_from_cache() const {
#ifdef POSIX_FADV_DONTNEED
  system_call::advise_file(blocks_->descriptor(), 0, 0, POSIX_FADV_DONTNEED);
#endif
}

void DiskProbe::check(const std::byte* bytes, std::uint64_t offset, std::uint64_t count) const {
  if (!key_) return;
  for (const std::uint64_t at : {std::uint64_t{0}, count - kWordBytes}) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, kWordBytes);
    if (word != pattern_word(*key_, offset + at))
      throw FileChangedError(file_->path(), say("byte ", offset + at,
                                                " is not what was written there; check the disk"));
  }
}

/// In as many threads as the depth: read(lane, offset) gives the bytes of a block.
template <class Read>
std::uint64_t DiskProbe::run_threads(const ProbeOptions& options, Places& places,
                                     const Read& read) const {
  std::atomic<std::uint64_t> reads = 0;
  places.start();
  overlapped_for(options.depth, options.depth, [&](std::size_t lane) {
    for (std::uint64_t block; places.next(block); reads.fetch_add(1, std::memory_order_relaxed)) {
      const std::uint64_t offset = block * options.read_bytes;
      check(read(lane, offset), offset, options.read_bytes);
    }
  });
  return reads;
}

std::uint64_t DiskProbe::run_mapped(const ProbeOptions& options, Places& places) const {
  // A mapping of its own: pages that are mapped cannot be dropped before the next run.
  const auto mapping = file_->map_again(MapMode::kGuarded);
  mapping->advise(options.in_order ? Advice::kSequential : Advice::kRandom, 0, mapping->size());
  return mapping->read_guarded([&] {
    return run_threads(options, places, [&](std::size_t, std::uint64_t offset) {
      const std::byte* const bytes = mapping->data() + offset;
      for (std::uint64_t at = 0; at < options.read_bytes; at += kPageBytes)
        static_cast<void>(*static_cast<const volatile std::byte*>(bytes + at));
      return bytes;
    });
  });
}

std::uint64_t DiskProbe::run_pread(const ProbeOptions& options, Places& places) const {
  Buffer<std::byte> memory = read_memory(options.depth, options.read_bytes);
  return run_threads(options, places, [&](std::size_t lane, std::uint64_t offset) {
    std::byte* const bytes = memory.data() + lane * options.read_bytes;
    blocks_->read(offset, bytes, options.read_bytes, options.read_bytes);
    return bytes;
  });
}

#ifdef __linux__

std::uint64_t DiskProbe::run_uring(const ProbeOptions& options, Places& places) const {
  std::uint64_t reads = 0;
  const auto next = [&](std::size_t, RingRead& read) {
    std::uint64_t block = 0;
    if (!places.next(block)) return false;
    read = {block * options.read_bytes, options.read_bytes, options.read_bytes};
    return true;
  };
  const auto done = [&](std::size_t, const RingRead& read, const std::byte* bytes) {
    check(bytes, read.offset, read.bytes);
    ++reads;
  };
  try {
    RingReads ring(*blocks_, options.depth, options.read_bytes);
    places.start();
    // As many of the reads stay in flight as for rows.
    ring.run(std::max(1U, options.depth / 8), next, done);
  } catch (const IoError& error) {
    throw IoError(file_->path(), "cannot be read by io_uring", error.code());
  }
  return reads;
}

#else

std::uint64_t DiskProbe::run_uring(const ProbeOptions&, Places&) const {
  throw IoError(file_->path(), "cannot be read by io_uring, which only Linux has", ENOSYS);
}

#endif

}  // namespace graphmount
