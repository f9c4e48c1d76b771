// Work on pieces that are ready in any order, and that is done in theirs, while more become ready.
//
// Threads say which piece is ready, and whichever finds that it is the turn of a piece does the
// work on it and on those that follow, one thread at a time. None waits for another: who finds one
// at work leaves its piece to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace graphmount {

class InTurn {
 public:
  /// Begins anew with so many pieces, none of which is ready.
  void begin(std::size_t num_pieces) {
    if (num_pieces > capacity_) {
      is_ready_ = std::make_unique<std::atomic<bool>[]>(num_pieces);
      capacity_ = num_pieces;
    }
    for (std::size_t i = 0; i < num_pieces; ++i)
      is_ready_[i].store(false, std::memory_order_relaxed);
    num_pieces_ = num_pieces;
    next_ = 0;
    is_busy_ = false;
  }

  /// Says that a piece is ready, and calls work(i) for each piece i whose turn it is. After the
  /// last call has returned, all pieces are done.
  template <class Work>
  void ready(std::size_t piece, const Work& work) {
    is_ready_[piece] = true;
    // Looked at again after the work: a thread that came meanwhile has left its piece to this one.
    while (is_next_ready()) {
      if (is_busy_.exchange(true)) return;
      while (is_next_ready()) {
        work(next_.load());
        ++next_;
      }
      is_busy_ = false;
    }
  }

 private:
  bool is_next_ready() const {
    const std::size_t next = next_;
    return next < num_pieces_ && is_ready_[next];
  }

  std::unique_ptr<std::atomic<bool>[]> is_ready_;
  std::size_t capacity_ = 0, num_pieces_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> is_busy_ = false;
};

}  // namespace graphmount
