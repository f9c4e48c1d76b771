#include "graphmount/graph/page_requests.hpp"

#include <bit>

#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kPagesPerWord = 64;

std::uint64_t num_words(const MappedFile& file) {
  return (file.size() / kPageBytes + 1) / kPagesPerWord + 1;
}

}  // namespace

ResidentPages::ResidentPages(const MappedFile& file, std::span<const Section> sections)
    : file_(&file) {
  for (const Section& section : sections)
    if (section.bytes != 0)  // an empty one may lie where the next begins
      residencies_.try_emplace(section.offset, file, section.offset, section.bytes);
}

bool ResidentPages::wants_requests(std::span<const Section* const> sections) {
  switch (mode_.load()) {
    case ReadAhead::kBatch:
      return true;
    case ReadAhead::kNone:
      return false;
    case ReadAhead::kAuto:
      break;
  }
  return std::ranges::any_of(sections, [&](const Section* section) {
    return section != nullptr && section->bytes != 0 &&
           !residencies_.at(section->offset).is_all_resident();
  });
}

std::atomic<std::uint64_t>* ResidentPages::asked() {
  std::call_once(asked_made_, [&] {
    asked_ = std::make_unique<std::atomic<std::uint64_t>[]>(num_words(*file_));
  });
  return asked_.get();
}

void ResidentPages::forget_asked() {
  std::atomic<std::uint64_t>* const words = asked();
  for (std::uint64_t i = 0; i < num_words(*file_); ++i)
    words[i].store(0, std::memory_order_relaxed);
}

void PageRequests::begin(ResidentPages& pages) {
  pages_ = &pages;
  const std::size_t words = num_words(*pages.file_);
  // A batch that ended with an exception may have left bits behind.
  if (wanted_.size() < words || !is_finished_) {
    wanted_.resize(std::max(words, wanted_.size()));
    std::fill(wanted_.data(), wanted_.data() + wanted_.size(), 0);
  }
  is_finished_ = false;
  num_wanted_ = 0;
  waits_before_ = num_page_waits();
}

void PageRequests::add_bytes(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  const std::uint64_t last = (end - 1) / kPageBytes;
  for (std::uint64_t page = begin / kPageBytes; page <= last; ++page) {
    const std::atomic_ref<std::uint64_t> word(wanted_[page / kPagesPerWord]);
    const std::uint64_t bit = std::uint64_t{1} << page % kPagesPerWord;
    // Most are there already: many picks share a page.
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
      word.fetch_or(bit, std::memory_order_relaxed);
  }
}

void PageRequests::start() {
  std::atomic<std::uint64_t>* const asked = pages_->asked();
  std::atomic<std::int64_t> num_wanted = 0;
  const std::uint64_t words = num_words(*pages_->file_);
  parallel_for(words, balanced_grain(words, 64), [&](std::size_t begin, std::size_t end) {
    std::int64_t count = 0;
    std::uint64_t run_begin = 0, run_end = 0;  // pages to ask for in one go
    const auto ask = [&] {
      if (run_end > run_begin)
        pages_->file_->advise(Advice::kWillNeed, run_begin * kPageBytes,
                              (run_end - run_begin) * kPageBytes);
    };
    for (std::size_t i = begin; i < end; ++i) {
      std::uint64_t& wanted = wanted_[i];
      if (wanted == 0) continue;
      count += std::popcount(wanted);
      std::uint64_t missing = wanted & ~asked[i].fetch_or(wanted, std::memory_order_relaxed);
      wanted = 0;
      for (; missing != 0; missing &= missing - 1) {
        const std::uint64_t page =
            i * kPagesPerWord + static_cast<std::uint64_t>(std::countr_zero(missing));
        if (page != run_end) {
          ask();
          run_begin = page;
        }
        run_end = page + 1;
      }
    }
    ask();
    num_wanted += count;
  });
  num_wanted_ += num_wanted;
}

void PageRequests::finish() {
  is_finished_ = true;
  constexpr std::int64_t kTolerated = 64;  // of how many pages one may have to be waited for
  if (num_page_waits() - waits_before_ > num_wanted_ / kTolerated + 1) pages_->forget_asked();
}

}  // namespace graphmount
