// Requests for pages: all pages that a batch of work will look at are requested at once and in disk
// order, before the first of them is touched.
//
// Touching pages one by one waits for the disk each time; a disk serves many requests at a time
// much faster. `ResidentPages` knows which sections are in memory anyway, and which pages were
// requested lately. `PageRequests` is one batch. Both only affect speed: a page that was not
// requested is read when it is touched.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "graphmount/format/format.hpp"
#include "graphmount/system/mapping/file_residency.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"
#include "graphmount/system/memory/buffer.hpp"

namespace graphmount {

/// When to announce reads.
enum class ReadAhead {
  kAuto,   // when part of the file is not in memory
  kBatch,  // always
  kNone,   // never: pages are read as they are touched
};

/// Shared by all calls on a mounted file, from any thread.
class ResidentPages {
 public:
  ResidentPages(const MappedFile& file, std::span<const Section> sections);

  /// Whether reads of these sections should be announced now. Looks at the page cache once in a
  /// while, as FileResidency does. nullptr is none.
  bool wants_requests(std::span<const Section* const> sections);

  void set_read_ahead(ReadAhead mode) { mode_ = mode; }
  ReadAhead read_ahead() const { return mode_; }

 private:
  friend class PageRequests;

  std::atomic<std::uint64_t>* asked();  // a bit for each page
  void forget_asked();

  const MappedFile* file_;
  std::atomic<ReadAhead> mode_ = ReadAhead::kAuto;
  std::map<std::uint64_t, FileResidency> residencies_;  // of the sections, by their offsets
  std::once_flag asked_made_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> asked_;
};

/// How many pages to request at a time: enough to keep the disk busy, and few enough to stay in
/// memory until they are read.
inline constexpr std::size_t kPagesAtOnce = 1 << 14;

/// One batch: any number of threads call `add`, then one calls `start`, and again; after all pages
/// have been read, `finish`.
class PageRequests {
 public:
  /// Begins a batch. `pages` must live until `finish`.
  void begin(ResidentPages& pages);

  /// Calls work(begin, end) for ranges of `size` that make up [0, count). The pages of a range are
  /// requested by add_pages(begin, end) while the range before it is at work.
  template <class AddPages, class Work>
  void in_ranges(std::size_t count, std::size_t size, const AddPages& add_pages, const Work& work) {
    for (std::size_t next = 0, begin = 0; begin < count;) {
      const std::size_t end = next;
      if (next < count) {
        add_pages(next, std::min(next + size, count));
        start();
        next = std::min(next + size, count);
      }
      if (begin < end) work(begin, end);
      begin = end;
    }
  }

  /// Asks for items [begin, end) of a section.
  void add(const Section& section, std::uint64_t item_bytes, std::int64_t begin, std::int64_t end) {
    add_bytes(section.offset + static_cast<std::uint64_t>(begin) * item_bytes,
              section.offset + static_cast<std::uint64_t>(end) * item_bytes);
  }

  /// Has the system begin to read what was added, but for pages that were asked for lately.
  void start();

  /// Says that the pages were read. If many of them had to be waited for nevertheless, pages do not
  /// stay in memory for long, and the record of earlier requests is cleared.
  void finish();

  std::size_t bytes() const { return wanted_.bytes(); }

 private:
  void add_bytes(std::uint64_t begin, std::uint64_t end);

  ResidentPages* pages_ = nullptr;
  Buffer<std::uint64_t> wanted_;  // a bit for each page; all zero between batches
  bool is_finished_ = true;
  std::int64_t num_wanted_ = 0;
  std::int64_t waits_before_ = 0;
};

}  // namespace graphmount
