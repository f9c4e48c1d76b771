// Objects that belong to the process that made them, since they have threads, or locks and queues
// that threads work on.
//
// A child of fork has a copy of them, but not of the threads: a lock may be held for ever, a queue
// may be half changed, and even to destroy a condition variable may wait for ever. So the child
// must leave its copy alone. A ProcessBound object is destroyed by its own process only; elsewhere
// its memory stays as it is. `is_here` says whether it may be used.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

namespace graphmount {

template <class Object>
class ProcessBound {
 public:
  ProcessBound() = default;

  template <class... Arguments>
  static ProcessBound make(Arguments&&... arguments) {
    ProcessBound made;
    made.object_ = {new Object(std::forward<Arguments>(arguments)...),
                    [process = getpid()](Object* object) {
                      if (getpid() == process) delete object;
                    }};
    made.process_ = getpid();
    return made;
  }

  /// Whether there is an object, and this is its process.
  bool is_here() const { return object_ != nullptr && getpid() == process_; }

  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_.get(); }
  const std::shared_ptr<Object>& shared() const { return object_; }

 private:
  std::shared_ptr<Object> object_;
  pid_t process_ = 0;
};

}  // namespace graphmount
