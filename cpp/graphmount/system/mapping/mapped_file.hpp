// A file mapped into memory: the one place that maps files.
//
// A `MappedFile` owns one mapping and shares the open file with its siblings, so a mapping made
// later by `map_again` shows the same file even if the path has been replaced by then. Three modes:
// the core reads through a guarded mapping, where a page that has vanished (the file was truncated)
// makes `require_intact` throw instead of killing the process; users get views of a plain shared
// mapping, or of a private copy-on-write one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "graphmount/base/error.hpp"

namespace graphmount {

class FileDescriptor;

enum class MapMode { kGuarded, kShared, kPrivate };

/// What madvise calls advice; `kPopulate` reads the pages before it returns.
enum class Advice { kNormal, kRandom, kSequential, kWillNeed, kPopulate };

class MappedFile {
 public:
  /// Opens a regular file and maps all of it, guarded.
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path);

  /// Maps all of a regular file that somebody has open already, guarded. The descriptor stays
  /// theirs; `path` is what messages call the file.
  static std::shared_ptr<MappedFile> open(int descriptor, const std::filesystem::path& path);

  /// Another mapping of the same open file. Where the system refuses a private mapping of this
  /// size, the result is a read-only one and `is_writable()` is false.
  std::shared_ptr<MappedFile> map_again(MapMode mode) const;

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  bool is_writable() const { return writable_; }

  /// Runs `read`, which looks at the bytes of this guarded mapping, and returns its result. Throws
  /// FileChangedError, rather than what `read` made of it, if a page was lost meanwhile.
  template <class Read>
  auto read_guarded(Read&& read) const {
    before_read();
    try {
      if constexpr (std::is_void_v<decltype(read())>) {
        read();
        require_intact();
      } else {
        auto result = read();
        require_intact();
        return result;
      }
    } catch (const FileChangedError&) {
      throw;
    } catch (...) {
      require_intact();
      throw;
    }
  }

  /// Throws FileChangedError if the file has shrunk or a guarded page could not be read.
  void require_intact() const;

  /// Copies the first bytes of the file, as many as it has of them, without touching the mapping:
  /// a page fault would read whatever the system thinks is near as well.
  std::size_t read_start(std::span<std::byte> out) const;

  /// The same open file once more, with its own flags (those of open), also if the path has been
  /// replaced. None, and errno, where the system refuses.
  FileDescriptor open_again(int flags) const;

  /// Tells the system how a range will be used. Ranges are clipped to the file.
  void advise(Advice advice, std::uint64_t offset, std::uint64_t bytes) const;

  /// How much of a range the page cache holds: exact where the system tells, on Linux else
  /// estimated from a sample; nothing where neither can be had.
  std::optional<std::uint64_t> resident_bytes(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  struct OpenFile;
  MappedFile(std::shared_ptr<const OpenFile> file, MapMode mode);
  void before_read() const;

  std::shared_ptr<const OpenFile> file_;
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  bool writable_ = false;
  MapMode mode_;
  std::atomic<bool> page_lost_ = false;
};

}  // namespace graphmount
