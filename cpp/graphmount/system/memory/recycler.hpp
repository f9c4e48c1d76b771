// Objects that own memory and are needed again and again, kept for the next use: after the first
// few calls, nothing is allocated any more, and no page has to be cleared by the system.
//
// There is a limit to how much memory is kept, so that one unusual call does not cost it for ever.
// Objects that differ in size go to shelves of their own: if any of them were taken for any use, in
// the end all of them would be as large as the largest. Safe with threads and after fork.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "graphmount/system/threads/fork_safe_mutex.hpp"

namespace graphmount {

/// `Object` has a default constructor, and `bytes()` says how much memory it holds.
template <class Object>
class Recycled {
 public:
  /// How much memory the objects of one kind may hold while nobody uses them.
  static constexpr std::size_t kMostBytes = std::size_t{128} << 20;

  /// One that was used before, as it was left, or a new one. It goes back to the shelf that it came
  /// from.
  explicit Recycled(unsigned shelf = 0) : shelf_(shelf) {
    {
      const std::lock_guard lock(fork_safe_mutex<Recycled>());
      Kept& kept = kept_objects();
      // The last one that came back is the likeliest to be in the processor's caches.
      for (std::size_t i = kept.objects.size(); i-- > 0;) {
        if (kept.objects[i].shelf != shelf) continue;
        object_ = kept.take(i);
        break;
      }
    }
    if (object_ == nullptr) object_ = std::make_unique<Object>();
  }
  Recycled(Recycled&& other) noexcept = default;
  Recycled& operator=(Recycled&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(shelf_, other.shelf_);
    return *this;
  }
  ~Recycled() {
    if (object_ == nullptr) return;
    const std::size_t bytes = object_->bytes();
    if (bytes > kMostBytes) return;
    const std::lock_guard lock(fork_safe_mutex<Recycled>());
    Kept& kept = kept_objects();
    // What nobody has taken for longest goes: perhaps nothing of its shelf is needed any more.
    while (kept.objects.size() == kMostKept || bytes > kMostBytes - kept.bytes) kept.take(0);
    kept.objects.push_back({std::move(object_), shelf_});
    kept.bytes += bytes;
  }

  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_.get(); }

 private:
  static constexpr std::size_t kMostKept = 32;

  struct OnShelf {
    std::unique_ptr<Object> object;
    unsigned shelf;
  };
  struct Kept {
    std::vector<OnShelf> objects;  // the last one that came back is the last
    std::size_t bytes = 0;

    std::unique_ptr<Object> take(std::size_t place) {
      std::unique_ptr<Object> object = std::move(objects[place].object);
      objects.erase(objects.begin() + static_cast<std::ptrdiff_t>(place));
      bytes -= object->bytes();
      return object;
    }
  };

  // Never destroyed: arrays may go back to it while the interpreter shuts down.
  static Kept& kept_objects() {
    static auto* const kept = [] {
      auto* fresh = new Kept;
      fresh->objects.reserve(kMostKept);
      return fresh;
    }();
    return *kept;
  }

  std::unique_ptr<Object> object_;
  unsigned shelf_;
};

}  // namespace graphmount
