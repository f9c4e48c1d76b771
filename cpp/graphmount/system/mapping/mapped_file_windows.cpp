// MappedFile over CreateFileMapping. Windows refuses to truncate a file while it is mapped, so the
// guarded mode needs no guard here.
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <algorithm>
#include <cerrno>

#include "graphmount/base/error.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount {
namespace {

int errno_of(DWORD code) {
  switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
      return EACCES;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_COMMITMENT_LIMIT:
      return ENOMEM;
    default:
      return EIO;
  }
}

}  // namespace

struct MappedFile::OpenFile {
  std::string path;
  HANDLE file = INVALID_HANDLE_VALUE;
  std::uint64_t size = 0;

  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  }
};

std::shared_ptr<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  auto file = std::make_shared<OpenFile>();
  file->path = path.string();
  if (std::filesystem::is_directory(path)) throw IoError(file->path, "cannot map", EISDIR);
  file->file = CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                           OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file->file == INVALID_HANDLE_VALUE)
    throw IoError(file->path, "cannot open", errno_of(GetLastError()));
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file->file, &size))
    throw IoError(file->path, "cannot stat", errno_of(GetLastError()));
  file->size = static_cast<std::uint64_t>(size.QuadPart);
  return std::shared_ptr<MappedFile>(new MappedFile(std::move(file), MapMode::kGuarded));
}

std::shared_ptr<MappedFile> MappedFile::map_again(MapMode mode) const {
  return std::shared_ptr<MappedFile>(new MappedFile(file_, mode));
}

MappedFile::MappedFile(std::shared_ptr<const OpenFile> file, MapMode mode)
    : file_(std::move(file)), size_(file_->size), mode_(mode) {
  if (size_ == 0) return;
  const bool is_private = mode == MapMode::kPrivate;
  // The view keeps the mapping object alive, so its handle can be closed at once.
  HANDLE mapping = CreateFileMappingW(file_->file, nullptr,
                                      is_private ? PAGE_WRITECOPY : PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) throw IoError(file_->path, "cannot map", errno_of(GetLastError()));
  void* view = MapViewOfFile(mapping, is_private ? FILE_MAP_COPY : FILE_MAP_READ, 0, 0, 0);
  writable_ = is_private && view != nullptr;
  if (view == nullptr && is_private) view = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  const DWORD code = GetLastError();
  CloseHandle(mapping);
  if (view == nullptr) throw IoError(file_->path, "cannot map", errno_of(code));
  data_ = static_cast<std::byte*>(view);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) UnmapViewOfFile(data_);
}

const std::string& MappedFile::path() const {
  return file_->path;
}

void MappedFile::before_read() const {}

void MappedFile::require_intact() const {}

std::size_t MappedFile::read_start(std::span<std::byte> out) const {
  OVERLAPPED position{};  // from the beginning, whatever was read before
  DWORD got = 0;
  if (!ReadFile(file_->file, out.data(), static_cast<DWORD>(out.size()), &got, &position) &&
      GetLastError() != ERROR_HANDLE_EOF)
    throw IoError(path(), "cannot read", errno_of(GetLastError()));
  return got;
}

void MappedFile::advise(Advice advice, std::uint64_t offset, std::uint64_t bytes) const {
  if (offset >= size_ || bytes == 0) return;
  const std::uint64_t length = std::min(bytes, size_ - offset);
  if (advice == Advice::kWillNeed) {
    WIN32_MEMORY_RANGE_ENTRY range{data_ + offset, static_cast<SIZE_T>(length)};
    PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0);
  } else if (advice == Advice::kPopulate) {
    for (std::uint64_t at = 0; at < length; at += 4096)
      static_cast<void>(*static_cast<const volatile std::byte*>(data_ + offset + at));
  }
}

std::optional<std::uint64_t> MappedFile::resident_bytes(std::uint64_t, std::uint64_t) const {
  return std::nullopt;
}

}  // namespace graphmount
