#include "graphmount/format/mount.hpp"

#include <algorithm>
#include <utility>

#include "graphmount/system/threads/fork_safe_mutex.hpp"

namespace graphmount {

Mount::Mount(std::shared_ptr<MappedFile> file, FileKind kind)
    : file_(std::move(file)), header_(read_header(*file_, kind)) {}

std::shared_ptr<const MappedFile> Mount::map_for_view(MapMode mode) const {
  const std::lock_guard lock(fork_safe_mutex<Mount>());
  std::shared_ptr<const MappedFile> view =
      mode == MapMode::kPrivate ? private_view_.lock() : shared_view_;
  if (view) return view;
  view = file_->map_again(mode);
  if (lasting_advice_ != Advice::kNormal) view->advise(lasting_advice_, 0, view->size());
  if (mode == MapMode::kPrivate)
    private_view_ = view;
  else
    shared_view_ = view;
  return view;
}

void Mount::advise(Advice advice, const Progress& progress) const {
  std::shared_ptr<const MappedFile> views[2];
  const bool is_lasting = advice != Advice::kWillNeed && advice != Advice::kPopulate;
  Advice before;
  {
    const std::lock_guard lock(fork_safe_mutex<Mount>());
    before = lasting_advice_;
    if (is_lasting) lasting_advice_ = advice;
    views[0] = shared_view_;
    views[1] = private_view_.lock();
  }
  // Not under the mutex, and piece by piece: populating takes as long as the disk does.
  const std::uint64_t size = file_->size();
  const std::uint64_t piece = advice == Advice::kPopulate ? std::uint64_t{64} << 20 : size;
  try {
    file_->read_guarded([&] {
      for (std::uint64_t at = 0; at < size; at += piece) {
        file_->advise(advice, at, piece);
        for (const auto& view : views)
          if (view) view->advise(advice, at, piece);
        if (progress) progress(std::min(at + piece, size), size);
      }
    });
  } catch (...) {
    // Later views are not to follow advice that was not taken.
    const std::lock_guard lock(fork_safe_mutex<Mount>());
    if (is_lasting && lasting_advice_ == advice) lasting_advice_ = before;
    throw;
  }
}

Advice Mount::advice() const {
  const std::lock_guard lock(fork_safe_mutex<Mount>());
  return lasting_advice_;
}

std::optional<std::uint64_t> Mount::resident_bytes() const {
  return file_->resident_bytes(0, file_->size());
}

void Mount::refuse(const std::string& problem) const {
  throw FormatError(file_->path(),
                    problem + "; the file is damaged: `graphmount verify` says where");
}

}  // namespace graphmount
