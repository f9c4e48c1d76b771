// Objects that own memory and are needed again and again, kept for the next use: after the first
// few calls, nothing is allocated any more, and no page has to be cleared by the system.
//
// There is a limit to how much memory is kept, so that one unusual call does not cost it for ever.
// Safe with threads and after fork.
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

  /// One that was used before, as it was left, or a new one.
  Recycled() {
    {
      const std::lock_guard lock(fork_safe_mutex<Recycled>());
      if (Kept& kept = kept_objects(); !kept.objects.empty()) {
        object_ = std::move(kept.objects.back());
        kept.objects.pop_back();
        kept.bytes -= object_->bytes();
      }
    }
    if (object_ == nullptr) object_ = std::make_unique<Object>();
  }
  Recycled(Recycled&& other) noexcept = default;
  Recycled& operator=(Recycled&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Recycled() {
    if (object_ == nullptr) return;
    const std::lock_guard lock(fork_safe_mutex<Recycled>());
    Kept& kept = kept_objects();
    const std::size_t bytes = object_->bytes();
    if (kept.objects.size() == kMostKept || bytes > kMostBytes - kept.bytes) return;
    kept.objects.push_back(std::move(object_));
    kept.bytes += bytes;
  }

  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_.get(); }

 private:
  static constexpr std::size_t kMostKept = 32;

  struct Kept {
    std::vector<std::unique_ptr<Object>> objects;
    std::size_t bytes = 0;
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
};

}  // namespace graphmount
