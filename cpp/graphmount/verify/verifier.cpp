#include "graphmount/verify/verifier.hpp"

#include <algorithm>
#include <vector>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/interrupt.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount {
namespace {

constexpr std::size_t kListedProblems = 100;
constexpr std::uint64_t kReadAheadBytes = 16 * kChunkBytes;

}  // namespace

Verifier::Verifier(const Mount& mount, const Progress& progress)
    : mount_(mount), progress_(progress), caller_(std::this_thread::get_id()) {
  const Header& header = mount.header();
  const Section& section = *header.find(SectionKind::kChecksums);
  checksums_ = mount.data<std::uint64_t>(section);
  verification_.kind = header.kind;
  verification_.file_bytes = header.file_bytes;
  for (const Section& other : header.sections)
    if (&other != &section) bytes_to_check_ += other.bytes;
  const auto table = mount.file().bytes().subspan(section.offset, section.bytes);
  if (xxh64(table) != section.digest)
    report(section, 0, "the table of checksums does not match its own checksum");
}

void Verifier::report_at(const std::string& section, std::uint64_t offset,
                         const std::string& message) {
  const std::lock_guard lock(mutex_);
  ++verification_.num_problems;
  unsound_.insert(section);
  auto& problems = verification_.problems;
  problems.push_back({section, offset, message});
  // Keep the first ones in file order; a heap would be faster, but this is not the common case.
  if (problems.size() > 2 * kListedProblems) {
    std::ranges::sort(problems, {}, &Problem::offset);
    problems.resize(kListedProblems);
  }
}

void Verifier::report(const Section& section, std::uint64_t item, const std::string& message) {
  report_at(section.name(), section.offset + item * traits_of(section.dtype).item_bytes, message);
}

void Verifier::check_chunks(const Section& section, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t item_bytes = traits_of(section.dtype).item_bytes;
  const std::uint64_t last = std::min(end * item_bytes, section.bytes);
  for (std::uint64_t at = begin * item_bytes; at < last; at += kChunkBytes) {
    const std::uint64_t bytes = std::min(kChunkBytes, section.bytes - at);
    // The disk reads what comes next while the processor is busy with this chunk.
    if (section.bytes - at > kReadAheadBytes)
      mount_.file().advise(Advice::kWillNeed, section.offset + at + kReadAheadBytes,
                           std::min(kChunkBytes, section.bytes - at - kReadAheadBytes));
    mount_.file().advise(Advice::kPopulate, section.offset + at, bytes);
    const std::uint64_t chunk = at / kChunkBytes;
    const auto data = mount_.file().bytes().subspan(section.offset + at, bytes);
    if (xxh64(data) != checksums_[section.first_chunk + chunk])
      report(section, at / item_bytes,
             say("the checksum of chunk ", chunk, " (", bytes, " bytes) does not match"));
    const std::uint64_t done = bytes_checked_.fetch_add(bytes) + bytes;
    if (progress_ && std::this_thread::get_id() == caller_) progress_(done, bytes_to_check_);
  }
}

void Verifier::check_section(const Section& section,
                             const std::function<void(std::uint64_t, std::uint64_t)>& check) {
  const std::uint64_t items = section.rows * section.columns;
  const std::uint64_t step = kChunkBytes / traits_of(section.dtype).item_bytes;
  parallel_each(section.num_chunks(), 1, [&](std::uint64_t chunk) {
    const std::uint64_t begin = chunk * step, end = std::min(items, begin + step);
    check_chunks(section, begin, end);
    if (check) check(begin, end);
  });
}

void Verifier::check_padding() {
  std::vector<const Section*> by_offset;
  for (const Section& section : mount_.header().sections) by_offset.push_back(&section);
  sort_by_place(by_offset);
  const auto bytes = mount_.file().bytes();
  const auto check_gap = [&](std::uint64_t begin, std::uint64_t end) {
    const auto gap = bytes.subspan(begin, end - begin);
    const auto bad =
        std::find_if(gap.begin(), gap.end(), [](std::byte byte) { return byte != std::byte{0}; });
    if (bad != gap.end())
      report_at("padding", begin + static_cast<std::uint64_t>(bad - gap.begin()),
                "a byte between two sections is not 0");
  };
  std::uint64_t end = kHeaderBytes;
  for (const Section* section : by_offset) {
    check_gap(end, section->offset);
    end = section->offset + section->bytes;
  }
  check_gap(end, bytes.size());
}

bool Verifier::is_sound(const Section& section) const {
  const std::lock_guard lock(mutex_);
  return !unsound_.contains(section.name());
}

Verification Verifier::result() {
  auto& problems = verification_.problems;
  std::ranges::sort(problems, {}, &Problem::offset);
  problems.resize(std::min(problems.size(), kListedProblems));
  if (progress_) progress_(bytes_to_check_, bytes_to_check_);
  return std::move(verification_);
}

void Verifier::tick() {
  check_interrupt();
  if (progress_ && std::this_thread::get_id() == caller_)
    progress_(bytes_to_check_, bytes_to_check_);
}

}  // namespace graphmount
