// Objects that own memory and are needed again and again, kept for the next use: after the first
// few calls, nothing is allocated any more, and no page has to be cleared by the system.
//
// Large ones are not kept, and there is a limit to how many are, so that one unusual call does not
// cost memory for ever. Safe with threads and after fork.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "graphmount/fork_safe_mutex.hpp"

namespace graphmount {

/// `Object` has a default constructor, and `bytes()` says how much memory it holds.
template <class Object>
class Recycled {
 public:
  /// One that was used before, as it was left, or a new one.
  Recycled() {
    {
      const std::lock_guard lock(fork_safe_mutex<Recycled>());
      if (!kept().empty()) {
        object_ = std::move(kept().back());
        kept().pop_back();
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
    if (object_ == nullptr || object_->bytes() > kMostBytes) return;
    const std::lock_guard lock(fork_safe_mutex<Recycled>());
    if (kept().size() < kMostKept) kept().push_back(std::move(object_));
  }

  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_.get(); }

 private:
  static constexpr std::size_t kMostKept = 32;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // Never destroyed: arrays may go back to it while the interpreter shuts down.
  static std::vector<std::unique_ptr<Object>>& kept() {
    static auto* const objects = [] {
      auto* fresh = new std::vector<std::unique_ptr<Object>>;
      fresh->reserve(kMostKept);
      return fresh;
    }();
    return *objects;
  }

  std::unique_ptr<Object> object_;
};

}  // namespace graphmount
