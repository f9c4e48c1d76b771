#include "graphmount/text_reader.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "graphmount/error.hpp"
#include "graphmount/parallel.hpp"

namespace graphmount {
namespace {

// In steps whose counts fit into a byte, which compilers turn into vector instructions.
std::size_t count_lines(std::string_view text) {
  constexpr std::size_t kStep = 192;
  std::size_t count = 0;
  for (; text.size() >= kStep; text.remove_prefix(kStep)) {
    unsigned char in_step = 0;
    for (std::size_t i = 0; i < kStep; ++i)
      in_step = static_cast<unsigned char>(in_step + (text[i] == '\n'));
    count += in_step;
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TextReader::TextReader(std::string name, std::unique_ptr<ByteStream> stream, TextLayout layout,
                       std::size_t piece_bytes)
    : parser_(std::move(name), std::move(layout)),
      stream_(std::move(stream)),
      piece_bytes_(std::max<std::size_t>(piece_bytes, 1)),
      header_is_ahead_(parser_.layout().format.has_header) {}

std::optional<TextBatch> TextReader::read(std::size_t num_bytes) {
  while (fill(std::max<std::size_t>(num_bytes, 1))) {
    const std::string_view lines = take_start({buffer_.get(), lines_end_});
    parser_.learn_num_fields(lines, next_line_);
    TextBatch batch = parse(lines);
    bytes_read_ += lines_end_ - (break_added_ ? 1 : 0);
    if (batch.num_rows > 0) return batch;
  }
  return std::nullopt;
}

// Moves on to the next whole lines; false if there are none.
bool TextReader::fill(std::size_t num_bytes) {
  size_ -= lines_end_;
  if (size_ > 0) std::memmove(buffer_.get(), buffer_.get() + lines_end_, size_);
  lines_end_ = 0;
  for (std::size_t wanted = std::max(num_bytes, size_);; wanted = 2 * wanted) {
    reserve(wanted);
    const std::size_t searched = size_;
    if (!at_end_ && size_ < wanted) {
      const std::size_t got = stream_->read({buffer_.get() + size_, wanted - size_});
      at_end_ = got < wanted - size_;
      size_ += got;
    }
    // The last line may lack its line break.
    if (at_end_ && size_ > 0 && buffer_[size_ - 1] != '\n') {
      buffer_[size_++] = '\n';
      break_added_ = true;
    }
    const char* const begin = buffer_.get() + searched;
    const char* last = buffer_.get() + size_;
    while (last != begin && last[-1] != '\n') --last;
    if (last != begin) {
      lines_end_ = static_cast<std::size_t>(last - buffer_.get());
      return true;
    }
    if (at_end_) return false;
    if (size_ > kLongestLine)
      throw SourceError(parser_.name() + ", line " + std::to_string(next_line_) +
                        ": longer than 64 MiB; this does not look like a text table");
  }
}

void TextReader::reserve(std::size_t bytes) {
  // One more for the last line break.
  const std::size_t needed = bytes + 1 + kTextPadding;
  if (needed <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(needed);
  if (size_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
  buffer_ = std::move(larger);
  capacity_ = needed;
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

// Pieces of about `piece_bytes_`, each of which ends with a line break.
std::vector<std::string_view> TextReader::cut(std::string_view lines) const {
  std::vector<std::string_view> pieces;
  while (!lines.empty()) {
    const std::size_t least = std::min(piece_bytes_, lines.size());
    pieces.push_back(lines.substr(0, lines.find('\n', least - 1) + 1));
    lines.remove_prefix(pieces.back().size());
  }
  return pieces;
}

TextBatch TextReader::parse(std::string_view lines) {
  const std::vector<std::string_view> texts = cut(lines);
  std::vector<TextPiece> pieces(texts.size());
  std::vector<ParsedPiece> parsed(texts.size());
  const auto for_pieces = [&](const auto& work) {
    parallel_for(static_cast<std::int64_t>(texts.size()), 1,
                 [&](std::int64_t at, std::int64_t) { work(static_cast<std::size_t>(at)); });
  };
  // How many lines there are tells each piece where its rows go, and the numbers of its lines.
  std::vector<std::size_t> num_lines(texts.size());
  for_pieces([&](std::size_t i) { num_lines[i] = count_lines(texts[i]); });
  std::size_t all_lines = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    pieces[i].first_row = all_lines;
    all_lines += num_lines[i];
  }
  TextBatch batch = make_batch(parser_.layout().outputs, all_lines);
  for_pieces([&](std::size_t i) {
    std::vector<TextTarget> targets = make_targets(batch, pieces[i]);
    const auto first_line = next_line_ + static_cast<std::int64_t>(pieces[i].first_row);
    parsed[i] = parser_.parse(texts[i], first_line, targets);
    pieces[i].num_rows = parsed[i].num_rows;
  });
  next_line_ += static_cast<std::int64_t>(all_lines);
  count_problems(parsed);
  join_pieces(batch, pieces);
  return batch;
}

void TextReader::count_problems(const std::vector<ParsedPiece>& pieces) {
  for (const ParsedPiece& piece : pieces) {
    if (piece.num_bad == 0) continue;
    if (!parser_.layout().skip_errors) throw SourceError(piece.problems.front());
    num_skipped_ += piece.num_bad;
    for (const std::string& problem : piece.problems)
      if (examples_.size() < kMaxExamples) examples_.push_back(problem);
  }
}

}  // namespace graphmount
