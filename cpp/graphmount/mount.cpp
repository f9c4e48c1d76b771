#include "graphmount/mount.hpp"

#include "graphmount/fork_safe_mutex.hpp"

namespace graphmount {

Mount::Mount(const std::filesystem::path& path, FileKind kind)
    : file_(MappedFile::open(path)), header_(read_header(*file_, kind)) {}

std::shared_ptr<const MappedFile> Mount::map_for_view(MapMode mode) const {
  const std::lock_guard lock(fork_safe_mutex<Mount>());
  auto& slot = mode == MapMode::kPrivate ? private_view_ : shared_view_;
  std::shared_ptr<const MappedFile> view = slot.lock();
  if (view) return view;
  view = file_->map_again(mode);
  if (lasting_advice_ != Advice::kNormal) view->advise(lasting_advice_, 0, view->size());
  slot = view;
  return view;
}

void Mount::advise(Advice advice) const {
  std::shared_ptr<const MappedFile> views[2];
  {
    const std::lock_guard lock(fork_safe_mutex<Mount>());
    if (advice != Advice::kWillNeed && advice != Advice::kPopulate) lasting_advice_ = advice;
    views[0] = shared_view_.lock();
    views[1] = private_view_.lock();
  }
  // Not under the mutex: populating takes as long as the disk does.
  file_->read_guarded([&] {
    file_->advise(advice, 0, file_->size());
    for (const auto& view : views)
      if (view) view->advise(advice, 0, view->size());
  });
}

std::optional<std::uint64_t> Mount::resident_bytes() const {
  return file_->resident_bytes(0, file_->size());
}

}  // namespace graphmount
