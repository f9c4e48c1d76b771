// A sum that parts of parallel work add to in their order, each of which then knows what is before
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "graphmount/system/threads/ordered_turns.hpp"

namespace graphmount {

class RunningTotal {
 public:
  /// Adds what part number `part` has, when all parts before have added theirs. Returns the sum
  /// before; nothing if a part before has failed.
  std::optional<std::size_t> add(std::size_t part, std::size_t count) {
    if (!turns_.wait(part)) return std::nullopt;
    const std::size_t before = std::exchange(total_, total_ + count);
    turns_.end();
    return before;
  }

  /// A part has nothing to add, and those behind it need not wait.
  void fail() { turns_.stop(); }

  std::size_t total() const { return total_; }  // when all is done

 private:
  Turns turns_;
  std::size_t total_ = 0;
};

}  // namespace graphmount
