#include "graphmount/mount.hpp"

namespace graphmount {

Mount::Mount(const std::filesystem::path& path, FileKind kind)
    : file_(MappedFile::open(path)),
      header_(file_->read_guarded([&] { return read_header(*file_, kind); })) {}

std::shared_ptr<const MappedFile> Mount::map_for_view(MapMode mode) const {
  const std::lock_guard lock(mutex_);
  auto& slot = mode == MapMode::kPrivate ? private_view_ : shared_view_;
  std::shared_ptr<const MappedFile> view = slot.lock();
  if (view) return view;
  view = file_->map_again(mode);
  if (lasting_advice_ != Advice::kNormal) view->advise(lasting_advice_, 0, view->size());
  slot = view;
  return view;
}

void Mount::advise(Advice advice) const {
  const std::lock_guard lock(mutex_);
  if (advice != Advice::kWillNeed && advice != Advice::kPopulate) lasting_advice_ = advice;
  file_->read_guarded([&] {
    file_->advise(advice, 0, file_->size());
    for (const auto& slot : {shared_view_, private_view_})
      if (const auto view = slot.lock()) view->advise(advice, 0, view->size());
  });
}

std::optional<std::uint64_t> Mount::resident_bytes() const {
  return file_->resident_bytes(0, file_->size());
}

}  // namespace graphmount
