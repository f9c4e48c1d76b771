#include "graphmount/loading/rows/row_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace graphmount {

RowSweep::RowSweep(std::vector<std::unique_ptr<RowReader>> readers, std::uint64_t num_rows,
                   std::size_t row_bytes, std::size_t chunk_rows, std::size_t segment_bytes)
    : num_rows_(num_rows),
      row_bytes_(row_bytes),
      chunk_rows_(chunk_rows),
      segment_rows_(std::max<std::size_t>(1, segment_bytes / std::max<std::size_t>(1, row_bytes))),
      num_chunks_(chunk_rows == 0 ? 0 : (num_rows + chunk_rows - 1) / chunk_rows) {
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
  try {
    for (const auto& worker : workers_)
      worker->thread = Thread([this, &own = *worker] { serve(own); });
  } catch (...) {
    end_threads();
    throw;
  }
}

RowSweep::~RowSweep() {
  clear();
  end_threads();
}

void RowSweep::end_threads() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (const auto& worker : workers_) worker->thread.join();
}

void RowSweep::set_room(std::size_t bytes, bool has_spare) {
  {
    const std::lock_guard lock(mutex_);
    room_ = bytes;
    has_spare_ = has_spare;
  }
  changed_.notify_all();
}

void RowSweep::admit(std::span<const std::uint64_t> rows) {
  auto batch = std::make_unique<Batch>();
  batch->rows = rows;
  batch->segments.resize((rows.size() + segment_rows_ - 1) / segment_rows_);
  batch->chunks_to_come = rows.empty() ? 0 : num_chunks_;
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

/// How many rows of a batch are in chunks before this one.
std::size_t RowSweep::rows_before(const Batch& batch, std::uint64_t chunk) const {
  const auto first = std::lower_bound(batch.rows.begin(), batch.rows.end(), chunk * chunk_rows_);
  return static_cast<std::size_t>(first - batch.rows.begin());
}

/// How many rows a batch has that came in at this chunk, when so many chunks are left.
std::size_t RowSweep::rows_without(const Batch& batch, std::uint64_t first_chunk,
                                   std::uint64_t num_left) const {
  const std::size_t before_first = rows_before(batch, first_chunk);
  if (num_left <= first_chunk)
    return batch.rows.size() - (before_first - rows_before(batch, first_chunk - num_left));
  return rows_before(batch, num_chunks_ + first_chunk - num_left) - before_first;
}

/// Whether the next batch may come in. Batches come in at even distances, as many as fit: if n of
/// them have from none to all of their rows, that is (n + 1) / 2 batches when one is complete.
bool RowSweep::can_begin() const {
  if (num_begun_ == batches_.size()) return false;
  if (num_begun_ == 0) return true;
  const Batch& next = *batches_[num_begun_];
  const Batch& last = *batches_[num_begun_ - 1];
  const auto bytes = static_cast<double>(std::max<std::size_t>(1, next.rows.size() * row_bytes_));
  const double most = 2 * static_cast<double>(room_) / bytes - 1;
  const double distance = std::floor(static_cast<double>(num_chunks_) / std::max(1.0, most));
  const auto past = static_cast<double>(num_chunks_ - last.chunks_to_come);
  return past >= distance && has_room_for_next();
}

/// Whether there is room whenever a batch is complete, if another one comes in now: by then, those
/// that came in later have only part of their rows.
bool RowSweep::has_room_for_next() const {
  const Batch& next = *batches_[num_begun_];
  for (std::size_t first = 0; first < num_begun_; ++first) {
    const std::uint64_t to_come = batches_[first]->chunks_to_come;
    const auto rows_then = [&](const Batch& each) {
      return rows_without(each, each.first_chunk,
                          each.chunks_to_come - std::min(each.chunks_to_come, to_come));
    };
    std::size_t sum = rows_without(next, position_, num_chunks_ - to_come);
    for (std::size_t i = first; i < num_begun_; ++i) sum += rows_then(*batches_[i]);
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
  return {batch.segments, segment_rows_, row_bytes_, batch.read_rows, batch.shared_rows};
}

void RowSweep::release() {
  const std::lock_guard lock(mutex_);
  if (batches_.empty() || !batches_.front()->is_complete())
    throw std::logic_error("the oldest batch is not complete");
  filled_bytes_ -= batches_.front()->filled_bytes;
  take_segments(*batches_.front());
  if (num_begun_ > 0) --num_begun_;
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
  num_begun_ = 0;
  segments_.clear();
  free_segments_.clear();
  failure_ = nullptr;
  is_cancelled_ = false;
}

bool RowSweep::has_work() const {
  if (is_cancelled_ || failure_ != nullptr || batches_.empty()) return false;
  const Batch& oldest = *batches_.front();
  const std::size_t spare = has_spare_ ? oldest.rows.size() * row_bytes_ : 0;
  if (oldest.chunks_to_come == 0 && filled_bytes_ >= room_ + spare) return false;
  return can_begin() ||
         std::any_of(batches_.begin(), batches_.begin() + static_cast<std::ptrdiff_t>(num_begun_),
                     [](const auto& batch) { return batch->chunks_to_come > 0; });
}

void RowSweep::serve(Worker& worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || has_work(); });
    if (is_ending_) return;
    std::exception_ptr failure;
    try {
      claim(worker);
      lock.unlock();
      read_chunk(worker);
    } catch (...) {
      failure = std::current_exception();
    }
    if (!lock.owns_lock()) lock.lock();
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

/// Takes the next chunk for all batches that need it, and gives them memory for its rows.
void RowSweep::claim(Worker& worker) {
  while (can_begin()) batches_[num_begun_++]->first_chunk = position_;
  worker.chunk = position_;
  position_ = (position_ + 1) % num_chunks_;
  worker.parts.clear();
  for (std::size_t i = 0; i < num_begun_; ++i) {
    Batch* const batch = batches_[i].get();
    if (batch->chunks_to_come == 0) continue;
    worker.parts.push_back({batch, 0, 0, 0});
    --batch->chunks_to_come;
    ++batch->chunks_under_way;
  }
  for (Part& part : worker.parts) {
    part.first = rows_before(*part.batch, worker.chunk);
    part.end = rows_before(*part.batch, worker.chunk + 1);
    give_segments(part);
  }
}

void RowSweep::give_segments(Part& part) {
  if (part.first == part.end) return;
  for (std::size_t i = part.first / segment_rows_; i <= (part.end - 1) / segment_rows_; ++i) {
    if (part.batch->segments[i] != nullptr) continue;
    if (free_segments_.empty()) {
      segments_.emplace_back(segment_rows_ * row_bytes_);
      free_segments_.push_back(segments_.back().data());
    }
    part.batch->segments[i] = free_segments_.back();
    free_segments_.pop_back();
  }
}

void RowSweep::take_segments(Batch& batch) {
  for (std::byte* const segment : batch.segments)
    if (segment != nullptr) free_segments_.push_back(segment);
}

void RowSweep::read_chunk(Worker& worker) const {
  const std::uint64_t first = worker.chunk * chunk_rows_;
  const std::uint64_t end = std::min(num_rows_, first + chunk_rows_);
  if (std::all_of(worker.parts.begin(), worker.parts.end(),
                  [](const Part& part) { return part.first == part.end; }))
    return;
  std::fill(worker.targets.begin(), worker.targets.end(), nullptr);
  for (Part& part : worker.parts)
    for (std::size_t i = part.first; i < part.end; ++i) {
      std::byte*& target = worker.targets[part.batch->rows[i] - first];
      if (target != nullptr) continue;
      target = row_of(*part.batch, i);
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
      std::byte* const out = row_of(*part.batch, i);
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
  std::size_t sum = bookkeeping_bytes(workers_.size(), chunk_rows_);
  for (const auto& worker : workers_) sum += worker->bytes;
  return sum;
}

}  // namespace graphmount
