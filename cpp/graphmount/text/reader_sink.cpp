// Rows that go to a sink as they are parsed: a piece is read, parsed, and taken by the sink in its
// turn, all by one thread, whose cache it stays in.
#include <algorithm>
#include <atomic>
#include <deque>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "graphmount/system/threads/ordered_turns.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/text/line_count.hpp"
#include "graphmount/text/reader.hpp"

namespace graphmount {
namespace {

// How many times the bytes of the text its arrays take at most: an empty field is one character,
// the one that ends it, and may be an item of eight bytes.
constexpr std::size_t kMostExpansion = 8;

// How many pieces a thread may have parsed whose turn has not come. With none of them, threads
// spent a fourteenth of their time waiting for each other.
constexpr std::size_t kMostWaiting = 2;

std::size_t row_bytes_of(const TextOutput& output) {
  return output.fields.size() * item_bytes(output.type);
}

std::size_t row_bytes_of(const TextLayout& layout) {
  std::size_t bytes = 0;
  for (const TextOutput& output : layout.outputs) bytes += row_bytes_of(output);
  return bytes;
}

}  // namespace

// How far a sink went along.
struct TextReader::Taken {
  std::size_t num_pieces = 0;
  std::size_t num_rows = 0;
  std::size_t num_lines = 0;
};

std::size_t TextReader::write_to(RowSink& sink, std::size_t num_bytes, std::size_t memory) {
  for (const TextOutput& output : layout().outputs)
    if (output.type == TextType::kText) throw std::invalid_argument("text does not go to a sink");
  for (;;) {
    const auto before = std::tuple(at_start_, header_is_ahead_, next_line_);
    StreamBufferPool::Handle start_memory;
    std::optional<PieceOfText> start;
    const std::size_t num_pieces = next_pieces(num_bytes, start_memory, start);
    if (num_pieces == 0) return 0;
    const Taken taken = offer(sink, num_pieces, start, num_threads_within(memory));
    next_line_ += static_cast<std::int64_t>(taken.num_lines);
    const bool all = taken.num_pieces == num_pieces;
    if (!all) {
      pieces_->end_before(taken.num_pieces);
      if (start) std::tie(at_start_, header_is_ahead_, next_line_) = before;
    }
    const std::uint64_t begin = std::exchange(bytes_read_, pieces_->batch_end());
    if (taken.num_lines > 0)
      lines_per_byte_ =
          static_cast<double>(taken.num_lines) / static_cast<double>(bytes_read_ - begin);
    if (taken.num_rows > 0 || !all) return taken.num_rows;
  }
}

// At most how many rows there are. To count lines takes as long as a tenth of parsing them.
std::size_t TextReader::most_rows(std::string_view lines) const {
  const std::size_t most = parser_.most_rows(lines.size());
  // Only if fields are taken many times is this far from what is needed.
  return most * row_bytes_of(layout()) <= kMostExpansion * lines.size() ? most : count_lines(lines);
}

std::size_t TextReader::num_threads_within(std::size_t memory) const {
  const auto piece_bytes = static_cast<double>(piece_bytes_);
  const double arrays = piece_bytes * lines_per_byte_ * static_cast<double>(row_bytes_of(layout()));
  const double bytes = piece_bytes + (kMostWaiting + 1) * arrays;
  return std::max<std::size_t>(static_cast<std::size_t>(static_cast<double>(memory) / bytes), 1);
}

// A piece that has been parsed, and waits for its turn.
struct TextReader::Parsed {
  std::size_t number = 0;
  std::vector<RoomyBufferPool::Handle> arrays{};
  std::vector<const std::byte*> outputs{};
  ParsedPiece piece{};
  bool is_endless = false;
};

TextReader::Parsed TextReader::parse_alone(std::size_t number, const PieceOfText& text) {
  Parsed parsed{.number = number, .is_endless = text.is_endless};
  const std::size_t room = most_rows(text.lines) + 1;  // see TextParser::parse
  std::vector<TextTarget> targets;
  for (std::size_t i = 0; i < piece_memory_.size(); ++i) {
    parsed.arrays.push_back(piece_memory_[i].take(room * row_bytes_of(layout().outputs[i])));
    targets.push_back({parsed.arrays.back().data(), nullptr});
    parsed.outputs.push_back(targets.back().items);
  }
  parsed.piece = parser_.parse(text.lines, next_line_, targets);
  return parsed;
}

// Pieces up to the first that is not as it should be, or that the sink does not take.
TextReader::Taken TextReader::offer(RowSink& sink, std::size_t num_pieces,
                                    const std::optional<PieceOfText>& start,
                                    std::size_t num_threads) {
  Taken taken;
  Turns turns;
  std::atomic<std::size_t> next = 0;
  const auto give = [&](const Parsed& parsed) {
    if (!turns.wait(parsed.number)) return;
    const RowPiece rows{parsed.outputs, parsed.piece.num_rows};
    std::optional<std::uint64_t> place;
    if (parsed.piece.num_bad == 0 && !parsed.is_endless) place = sink.take(rows);
    if (!place) return turns.stop();
    ++taken.num_pieces;
    taken.num_rows += parsed.piece.num_rows;
    taken.num_lines += parsed.piece.num_lines;
    turns.end();
    sink.write(rows, *place);
  };
  const auto work = [&] {
    StreamBufferPool::Handle memory;
    std::deque<Parsed> waiting;
    for (std::size_t i = next++; i < num_pieces && !turns.are_over(); i = next++) {
      waiting.push_back(parse_alone(i, start ? *start : pieces_->read(i, memory)));
      while (!waiting.empty() &&
             (waiting.size() > kMostWaiting || turns.need_not_wait(waiting.front().number))) {
        give(waiting.front());
        waiting.pop_front();
      }
    }
    for (const Parsed& parsed : waiting) give(parsed);
  };
  // Each runs until there is nothing left, however many of them the pool has threads for.
  num_threads = std::min(num_threads, num_pieces);
  parallel_for(static_cast<std::int64_t>(num_threads), 1, [&](std::int64_t, std::int64_t) {
    try {
      work();
    } catch (...) {
      turns.stop();  // or others would wait for ever
      throw;
    }
  });
  return taken;
}

}  // namespace graphmount
