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
  std::size_t count = 0;
  while (!text.empty()) {
    const std::string_view step = text.substr(0, 192);
    unsigned char in_step = 0;
    for (const char c : step) in_step = static_cast<unsigned char>(in_step + (c == '\n'));
    count += in_step;
    text.remove_prefix(step.size());
  }
  return count;
}

std::unique_ptr<std::byte[]> allocate(std::size_t bytes) {
  // Not cleared: all of it that is used gets written.
  return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
}

}  // namespace

// Some lines of a batch, for one thread.
struct TextReader::Piece {
  std::string_view lines;
  std::size_t num_lines = 0;
  std::size_t first_row = 0;      // where its rows start, if every line of the batch were a row
  std::size_t row = 0;            // where they really do
  std::vector<std::string> text;  // of each output
  std::vector<std::size_t> text_start;
  ParsedPiece parsed;
};

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
std::vector<TextReader::Piece> TextReader::cut(std::string_view lines) const {
  std::vector<Piece> pieces;
  while (!lines.empty()) {
    const std::size_t least = std::min(piece_bytes_, lines.size());
    const std::size_t bytes = lines.find('\n', least - 1) + 1;
    pieces.emplace_back().lines = lines.substr(0, bytes);
    lines.remove_prefix(bytes);
  }
  return pieces;
}

TextBatch TextReader::parse(std::string_view lines) {
  std::vector<Piece> pieces = cut(lines);
  const auto num_pieces = static_cast<std::int64_t>(pieces.size());
  const auto for_pieces = [&](const auto& work) {
    parallel_for(num_pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) work(pieces[static_cast<std::size_t>(i)]);
    });
  };
  // How many lines there are tells each piece where its rows go, and the numbers of its lines.
  for_pieces([](Piece& piece) { piece.num_lines = count_lines(piece.lines); });
  std::size_t num_lines = 0;
  for (Piece& piece : pieces) {
    piece.first_row = num_lines;
    num_lines += piece.num_lines;
  }
  const std::vector<TextOutput>& outputs = parser_.layout().outputs;
  TextBatch batch;
  for (const TextOutput& output : outputs) {
    const bool is_text = output.type == TextType::kText;
    const std::size_t row_bytes = output.fields.size() * item_bytes(output.type);
    batch.arrays.push_back(
        {output.type, output.fields.size(), allocate((num_lines + is_text) * row_bytes), nullptr});
  }
  const auto items_of = [&](std::size_t output, std::size_t row) {
    // The first offset of text is 0, and row i ends at the one behind it.
    const TextArray& array = batch.arrays[output];
    const std::size_t shift = array.type == TextType::kText;
    return array.items.get() + (row + shift) * array.num_fields * item_bytes(array.type);
  };
  const std::int64_t first_line = next_line_;
  for_pieces([&](Piece& piece) {
    piece.text.resize(outputs.size());
    std::vector<TextTarget> targets(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      targets[i] = {items_of(i, piece.first_row), &piece.text[i]};
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].type != TextType::kText) targets[i].text = nullptr;
    piece.parsed = parser_.parse(piece.lines,
                                 first_line + static_cast<std::int64_t>(piece.first_row), targets);
  });
  next_line_ += static_cast<std::int64_t>(num_lines);
  count_problems(pieces);

  // Lines that were no rows have left gaps between the pieces.
  for (Piece& piece : pieces) {
    piece.row = batch.num_rows;
    batch.num_rows += piece.parsed.num_rows;
    if (piece.row == piece.first_row) continue;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      std::memmove(items_of(i, piece.row), items_of(i, piece.first_row),
                   piece.parsed.num_rows * outputs[i].fields.size() * item_bytes(outputs[i].type));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].type != TextType::kText) continue;
    TextArray& array = batch.arrays[i];
    std::memset(array.items.get(), 0, sizeof(std::int64_t));
    for (Piece& piece : pieces) {
      piece.text_start.resize(outputs.size());
      piece.text_start[i] = array.text_bytes;
      array.text_bytes += piece.text[i].size();
    }
    array.text = allocate(array.text_bytes);
    for_pieces([&](Piece& piece) {
      std::memcpy(array.text.get() + piece.text_start[i], piece.text[i].data(),
                  piece.text[i].size());
      auto* const ends = reinterpret_cast<std::int64_t*>(items_of(i, piece.row));
      for (std::size_t row = 0; row < piece.parsed.num_rows; ++row)
        ends[row] += static_cast<std::int64_t>(piece.text_start[i]);
    });
  }
  return batch;
}

void TextReader::count_problems(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    if (piece.parsed.num_bad == 0) continue;
    if (!parser_.layout().skip_errors) throw SourceError(piece.parsed.problems.front());
    num_skipped_ += piece.parsed.num_bad;
    for (const std::string& problem : piece.parsed.problems)
      if (examples_.size() < kMaxExamples) examples_.push_back(problem);
  }
}

}  // namespace graphmount
