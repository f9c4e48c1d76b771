#include "graphmount/text/reader.hpp"

#include <algorithm>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/system/threads/running_total.hpp"

namespace graphmount {
namespace {

// How many arrays of an output are kept for the next batches when they are not used any more.
constexpr std::size_t kMostFreeArrays = 4;

}  // namespace

// What is known of a piece, and what has become of it.
struct TextReader::Piece {
  std::size_t num_lines = 0;
  std::int64_t first_line = 0;
  bool is_endless = false;  // see PieceOfText
  bool is_parsed = false;
  TextPiece rows;
  ParsedPiece parsed;
};

TextReader::TextReader(std::string name, std::unique_ptr<TextPieces> pieces, TextLayout layout,
                       std::size_t piece_bytes)
    : parser_(std::move(name), std::move(layout)),
      pieces_(std::move(pieces)),
      piece_bytes_(std::max<std::size_t>(piece_bytes, 1)),
      header_is_ahead_(parser_.layout().format.has_header) {
  for (std::size_t i = 0; i < parser_.layout().outputs.size(); ++i)
    array_memory_.emplace_back(kMostFreeArrays);
}

// Moves on to the next pieces, and returns how many there are. If it is not known yet what rows
// look like, there is only one, and it has been read.
std::size_t TextReader::next_pieces(std::size_t num_bytes, StreamBufferPool::Handle& memory,
                                    std::optional<PieceOfText>& start) {
  num_bytes = std::max<std::size_t>(num_bytes, 1);
  // Up to the first row, each piece depends on the one before, so there is one at a time.
  const bool is_start = at_start_ || header_is_ahead_ || !parser_.knows_num_fields();
  if (!is_start) return pieces_->next_batch(num_bytes, piece_bytes_);
  if (pieces_->next_batch(std::min(num_bytes, piece_bytes_), SIZE_MAX) == 0) return 0;
  start = pieces_->read(0, memory);
  start->lines = take_start(start->lines);
  parser_.learn_num_fields(start->lines, next_line_);
  return 1;
}

std::optional<TextBatch> TextReader::read(std::size_t num_bytes) {
  for (;;) {
    StreamBufferPool::Handle memory;
    std::optional<PieceOfText> start;
    const std::size_t num_pieces = next_pieces(num_bytes, memory, start);
    if (num_pieces == 0) return std::nullopt;
    TextBatch batch = parse(num_pieces, start);
    bytes_read_ = pieces_->batch_end();
    if (batch.num_rows > 0) return batch;
  }
}

// What stands at the start of a file, and is no row: the mark of UTF-8, and names of columns.
std::string_view TextReader::take_start(std::string_view lines) {
  if (std::exchange(at_start_, false)) {
    if (lines.starts_with("\xFF\xFE") || lines.starts_with("\xFE\xFF"))
      throw SourceError(parser_.name() + ": this looks like UTF-16; save it as UTF-8");
    if (lines.starts_with("\xEF\xBB\xBF")) lines.remove_prefix(3);
  }
  while (header_is_ahead_ && !lines.empty()) {
    ++next_line_;
    header_is_ahead_ = !is_row(take_line(lines), parser_.layout().format);
  }
  return lines;
}

// The rows of all pieces, or of `start`, if that is the only one and has been read.
TextBatch TextReader::parse(std::size_t num_pieces, const std::optional<PieceOfText>& start) {
  const auto text_of = [&](std::size_t i, StreamBufferPool::Handle& memory) {
    return start ? *start : pieces_->read(i, memory);
  };
  // How many lines are before a piece tells where its rows go. How many there are in all is not
  // known before the last piece has been read, but they are about as many as in the batch before.
  const auto num_bytes = static_cast<double>(pieces_->batch_end() - bytes_read_);
  std::size_t capacity = static_cast<std::size_t>(1.05 * lines_per_byte_ * num_bytes) + 1;
  if (start) capacity = count_lines(start->lines);
  TextBatch batch = make_batch(parser_.layout().outputs, capacity, array_memory_);
  std::vector<Piece> pieces(num_pieces);
  RunningTotal num_lines;
  parallel_each(num_pieces, 1, [&](std::size_t i) {
    Piece& piece = pieces[i];
    StreamBufferPool::Handle memory;
    PieceOfText text;
    try {
      text = text_of(i, memory);
    } catch (...) {
      num_lines.fail();
      throw;
    }
    piece.is_endless = text.is_endless;
    piece.num_lines = count_lines(text.lines);
    const std::optional<std::size_t> first_row = num_lines.add(i, piece.num_lines);
    if (!first_row) return;
    piece.rows.first_row = *first_row;
    piece.first_line = next_line_ + static_cast<std::int64_t>(*first_row);
    if (*first_row + piece.num_lines <= capacity) parse_piece(text.lines, batch, piece);
  });
  if (num_lines.total() > capacity) {
    // Those that had no room are read again; pieces before them are where they belong.
    const auto first = std::find_if(pieces.begin(), pieces.end(),
                                    [](const Piece& piece) { return !piece.is_parsed; });
    TextBatch larger = make_batch(parser_.layout().outputs, num_lines.total(), array_memory_);
    copy_rows(batch, first->rows.first_row, larger);
    batch = std::move(larger);
    parallel_each(num_pieces, 1, [&](std::size_t i) {
      StreamBufferPool::Handle memory;
      if (!pieces[i].is_parsed) parse_piece(text_of(i, memory).lines, batch, pieces[i]);
    });
  }
  count_problems(pieces);
  next_line_ += static_cast<std::int64_t>(num_lines.total());
  lines_per_byte_ = static_cast<double>(num_lines.total()) / std::max(num_bytes, 1.0);
  std::vector<TextPiece> rows;
  for (Piece& piece : pieces) rows.push_back(std::move(piece.rows));
  join_pieces(batch, rows);
  return batch;
}

void TextReader::parse_piece(std::string_view lines, TextBatch& batch, Piece& piece) const {
  std::vector<TextTarget> targets = make_targets(batch, piece.rows);
  piece.parsed = parser_.parse(lines, piece.first_line, targets);
  piece.rows.num_rows = piece.parsed.num_rows;
  piece.is_parsed = true;
}

void TextReader::count_problems(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    if (piece.parsed.num_bad > 0 && !parser_.layout().skip_errors)
      throw SourceError(piece.parsed.problems.front());
    num_skipped_ += piece.parsed.num_bad;
    for (const std::string& problem : piece.parsed.problems)
      if (examples_.size() < kMaxExamples) examples_.push_back(problem);
    if (piece.is_endless) {
      const std::int64_t line = piece.first_line + static_cast<std::int64_t>(piece.num_lines);
      throw SourceError(
          say(parser_.name(), ", line ", line, ": ", describe_long_line(parser_.layout())));
    }
  }
}

}  // namespace graphmount
