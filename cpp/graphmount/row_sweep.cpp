#include "graphmount/row_sweep.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace graphmount {
RowSweep::RowSweep(std::vector<std::unique_ptr<RowReader>> readers, std::uint64_t num_rows,
                   std::size_t row_bytes, std::size_t chunk_rows)
    : num_rows_(num_rows),
      row_bytes_(row_bytes),
      chunk_rows_(chunk_rows),
      num_chunks_(chunk_rows == 0 ? 0 : (num_rows + chunk_rows - 1) / chunk_rows),
      process_(getpid()) {
  if (chunk_rows == 0 || readers.empty())
    throw std::invalid_argument("a sweep needs readers, and chunks with rows");
  for (auto& reader : readers) {
    auto worker = std::make_unique<Worker>();
    worker->reader = std::move(reader);
    worker->targets.resize(chunk_rows);
    worker->reads.reserve(chunk_rows);
    worker->bytes = worker->reader->bytes();
    workers_.push_back(std::move(worker));
  }
  for (const auto& worker : workers_)
    worker->thread = std::thread([this, &own = *worker] { serve(own); });
}

RowSweep::~RowSweep() {
  if (getpid() != process_) {
    // The threads are the parent's: there is nothing to wait for here.
    for (const auto& worker : workers_) worker->thread.detach();
    return;
  }
  clear();
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (const auto& worker : workers_) worker->thread.join();
}

void RowSweep::set_room(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    room_ = bytes;
  }
  changed_.notify_all();
}

bool RowSweep::admit(std::span<const std::uint64_t> rows) {
  auto batch = std::make_unique<Batch>();
  batch->rows = rows;
  batch->chunks_to_come = rows.empty() ? 0 : num_chunks_;
  {
    const std::lock_guard lock(mutex_);
    batch->first_chunk = position_;
    if (!batches_.empty() && !has_room_for(*batch)) return false;
    // The system gives pages as they are written to, and gets them back with the batch.
    batch->bytes.resize(rows.size() * row_bytes_);
    batches_.push_back(std::move(batch));
  }
  changed_.notify_all();
  return true;
}

/// How many rows of a batch are in chunks before this one.
std::size_t RowSweep::rows_before(const Batch& batch, std::uint64_t chunk) const {
  const auto first = std::lower_bound(batch.rows.begin(), batch.rows.end(), chunk * chunk_rows_);
  return static_cast<std::size_t>(first - batch.rows.begin());
}

/// How many rows a batch has when so many chunks are left: the last ones before it is complete.
std::size_t RowSweep::rows_without(const Batch& batch, std::uint64_t num_left) const {
  const std::size_t before_end = rows_before(batch, batch.first_chunk);
  if (num_left <= batch.first_chunk)
    return batch.rows.size() - (before_end - rows_before(batch, batch.first_chunk - num_left));
  return rows_before(batch, num_chunks_ + batch.first_chunk - num_left) - before_end;
}

/// Whether there is room whenever a batch is complete, with another one that comes in now: by then,
/// those that came in later have only part of their rows.
bool RowSweep::has_room_for(const Batch& batch) const {
  for (std::size_t first = 0; first < batches_.size(); ++first) {
    const std::uint64_t to_come = batches_[first]->chunks_to_come;
    const auto rows_then = [&](const Batch& each) {
      return rows_without(each, each.chunks_to_come - std::min(each.chunks_to_come, to_come));
    };
    std::size_t sum = rows_then(batch);
    for (std::size_t i = first; i < batches_.size(); ++i) sum += rows_then(*batches_[i]);
    if (sum * row_bytes_ > room_) return false;
  }
  return true;
}

SweptRows RowSweep::wait() {
  std::unique_lock lock(mutex_);
  if (batches_.empty()) throw std::logic_error("there is no batch in the sweep");
  const Batch& batch = *batches_.front();
  changed_.wait(lock, [&] { return is_cancelled_ || failure_ != nullptr || batch.is_complete(); });
  if (is_cancelled_) throw std::runtime_error("the sweep was cancelled");
  if (!batch.is_complete()) std::rethrow_exception(failure_);
  return {batch.bytes.span(), batch.read_rows, batch.shared_rows};
}

void RowSweep::release() {
  const std::lock_guard lock(mutex_);
  if (batches_.empty() || !batches_.front()->is_complete())
    throw std::logic_error("the oldest batch is not complete");
  filled_bytes_ -= batches_.front()->filled_bytes;
  batches_.pop_front();
  changed_.notify_all();
}

void RowSweep::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
  }
  changed_.notify_all();
}

void RowSweep::clear() noexcept {
  std::unique_lock lock(mutex_);
  for (const auto& batch : batches_) batch->chunks_to_come = 0;
  changed_.wait(lock, [&] {
    return std::all_of(batches_.begin(), batches_.end(),
                       [](const auto& batch) { return batch->chunks_under_way == 0; });
  });
  batches_.clear();
  filled_bytes_ = 0;
  failure_ = nullptr;
  is_cancelled_ = false;
}

bool RowSweep::has_work() const {
  if (is_cancelled_ || failure_ != nullptr || batches_.empty()) return false;
  if (batches_.front()->chunks_to_come == 0 && filled_bytes_ >= room_) return false;
  return std::any_of(batches_.begin(), batches_.end(),
                     [](const auto& batch) { return batch->chunks_to_come > 0; });
}

void RowSweep::serve(Worker& worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || has_work(); });
    if (is_ending_) return;
    const std::uint64_t chunk = position_;
    position_ = (position_ + 1) % num_chunks_;
    worker.parts.clear();
    for (const auto& batch : batches_) {
      if (batch->chunks_to_come == 0) continue;
      --batch->chunks_to_come;
      ++batch->chunks_under_way;
      worker.parts.push_back({batch.get(), 0, 0, 0});
    }
    lock.unlock();
    std::exception_ptr failure;
    try {
      read_chunk(worker, chunk);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    bool is_news = false;
    for (const Part& part : worker.parts) {
      Batch& batch = *part.batch;
      batch.has_failed |= failure != nullptr;
      --batch.chunks_under_way;
      batch.read_rows += part.num_read;
      batch.shared_rows += part.end - part.first - part.num_read;
      batch.filled_bytes += (part.end - part.first) * row_bytes_;
      filled_bytes_ += (part.end - part.first) * row_bytes_;
      is_news |= batch.chunks_under_way == 0;
    }
    worker.stats = worker.reader->stats();
    worker.bytes = worker.reader->bytes();
    if (failure != nullptr && failure_ == nullptr) failure_ = failure;
    if (is_news || failure != nullptr) changed_.notify_all();
  }
}

void RowSweep::read_chunk(Worker& worker, std::uint64_t chunk) const {
  const std::uint64_t first = chunk * chunk_rows_;
  const std::uint64_t end = std::min(num_rows_, first + chunk_rows_);
  bool has_rows = false;
  for (Part& part : worker.parts) {
    const auto rows = part.batch->rows;
    const auto begin = std::lower_bound(rows.begin(), rows.end(), first);
    part.first = static_cast<std::size_t>(begin - rows.begin());
    part.end = static_cast<std::size_t>(std::lower_bound(begin, rows.end(), end) - rows.begin());
    has_rows |= part.end > part.first;
  }
  if (!has_rows) return;
  std::fill(worker.targets.begin(), worker.targets.end(), nullptr);
  for (Part& part : worker.parts)
    for (std::size_t i = part.first; i < part.end; ++i) {
      std::byte*& target = worker.targets[part.batch->rows[i] - first];
      if (target != nullptr) continue;
      target = part.batch->bytes.data() + i * row_bytes_;
      ++part.num_read;
    }
  worker.reads.clear();
  for (std::uint64_t row = first; row < end; ++row)
    if (std::byte* const target = worker.targets[row - first])
      worker.reads.push_back({row, target});
  worker.reader->read(worker.reads);
  for (const Part& part : worker.parts) {
    if (part.num_read == part.end - part.first) continue;
    for (std::size_t i = part.first; i < part.end; ++i) {
      std::byte* const out = part.batch->bytes.data() + i * row_bytes_;
      const std::byte* const target = worker.targets[part.batch->rows[i] - first];
      if (target != out) std::memcpy(out, target, row_bytes_);
    }
  }
}

std::size_t RowSweep::batch_bytes() const {
  const std::lock_guard lock(mutex_);
  return filled_bytes_;
}

ReadStats RowSweep::stats() const {
  const std::lock_guard lock(mutex_);
  ReadStats sum;
  for (const auto& worker : workers_) sum += worker->stats;
  return sum;
}

std::size_t RowSweep::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = book_bytes(workers_.size(), chunk_rows_);
  for (const auto& worker : workers_) sum += worker->bytes;
  return sum;
}

}  // namespace graphmount
