#include "graphmount/text/pieces.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graphmount/text/lines/plain_lines.hpp"

namespace graphmount {
namespace {

// What is read behind a piece for the end of its last line, at first.
constexpr std::size_t kBytesBehind = 4096;
// Behind the text: a line break, if the last line lacks one, and what parsers look at.
constexpr std::size_t kRoomBehind = 1 + kTextPadding;
// As many as threads take at a time on most machines.
constexpr std::size_t kMostFree = 64;

std::size_t ceil_divide(std::uint64_t count, std::uint64_t by) {
  return static_cast<std::size_t>((count + by - 1) / by);
}

class FilePieces : public TextPieces {
 public:
  FilePieces(std::unique_ptr<SourceFile> file, std::size_t longest_line)
      : file_(std::move(file)), longest_line_(longest_line), memory_(kMostFree) {}

  std::size_t next_batch(std::size_t num_bytes, std::size_t piece_bytes) override {
    begin_ = end_;
    end_ += std::min<std::uint64_t>(num_bytes, file_->size() - begin_);
    piece_bytes_ = std::min<std::uint64_t>(piece_bytes, std::max<std::uint64_t>(end_ - begin_, 1));
    // The disk can fetch what comes next while this is parsed.
    if (end_ < file_->size()) file_->expect(end_, end_ - begin_);
    return ceil_divide(end_ - begin_, piece_bytes_);
  }

  PieceOfText read(std::size_t piece, StreamBufferPool::Handle& memory) override {
    const std::uint64_t begin = begin_ + piece * piece_bytes_;
    const std::uint64_t end = std::min(begin + piece_bytes_, end_);
    // With the byte before: it tells whether a line begins where the piece does.
    const std::uint64_t from = begin - (begin > 0 ? 1 : 0);
    const auto available = static_cast<std::size_t>(file_->size() - from);
    const auto last = static_cast<std::size_t>(end - 1 - from);  // the last byte of the piece
    std::size_t size = 0;
    memory = memory_.take(last + 1 + kBytesBehind + kRoomBehind);
    const auto read_to = [&](std::size_t wanted) {
      wanted = std::min(wanted, available);
      memory.grow(wanted + kRoomBehind);
      file_->read_at(from + size, {text_of(memory) + size, wanted - size});
      size = wanted;
    };
    read_to(last + 1 + kBytesBehind);
    std::size_t start = 0;
    if (begin > 0) {
      const char* const before = find_break(text_of(memory), 0, last);
      if (before == nullptr) return {};  // it is all of a line that begins earlier
      start = static_cast<std::size_t>(before - text_of(memory)) + 1;
    }
    for (std::size_t searched = last;;) {
      if (const char* const at = find_break(text_of(memory), searched, size))
        return {{text_of(memory) + start, at + 1}};
      if (size == available) {
        text_of(memory)[size] = '\n';  // which the last line lacks
        return {{text_of(memory) + start, text_of(memory) + size + 1}};
      }
      if (size > longest_line_) {
        std::size_t line = last;
        while (line > start && text_of(memory)[line - 1] != '\n') --line;
        if (size - line > longest_line_)
          return {{text_of(memory) + start, text_of(memory) + line}, true};
      }
      searched = size;
      read_to(2 * size);
    }
  }

  std::uint64_t batch_end() const override { return end_; }

 private:
  static char* text_of(StreamBufferPool::Handle& memory) {
    return reinterpret_cast<char*>(memory.data());
  }

  static const char* find_break(const char* text, std::size_t begin, std::size_t end) {
    return static_cast<const char*>(std::memchr(text + begin, '\n', end - begin));
  }

  std::unique_ptr<SourceFile> file_;
  std::size_t longest_line_;
  StreamBufferPool memory_;
  std::uint64_t piece_bytes_ = 1;
  std::uint64_t begin_ = 0;  // of the batch
  std::uint64_t end_ = 0;
};

class StreamPieces : public TextPieces {
 public:
  StreamPieces(std::unique_ptr<ByteStream> stream, std::size_t longest_line)
      : stream_(std::move(stream)), longest_line_(longest_line) {}

  std::size_t next_batch(std::size_t num_bytes, std::size_t piece_bytes) override {
    pieces_.clear();
    fill(num_bytes);
    std::string_view lines(buffer_.data(), lines_end_);
    while (!lines.empty()) {
      const std::size_t least = std::min(piece_bytes, lines.size());
      pieces_.push_back({lines.substr(0, lines.find('\n', least - 1) + 1)});
      lines.remove_prefix(pieces_.back().lines.size());
    }
    if (pieces_.empty() && size_ > 0) pieces_.push_back({{}, true});
    batch_end_ += num_bytes_read();
    return pieces_.size();
  }

  PieceOfText read(std::size_t piece, StreamBufferPool::Handle&) override { return pieces_[piece]; }

  std::uint64_t batch_end() const override { return batch_end_; }

 private:
  // Of the batch, without what was added.
  std::size_t num_bytes_read() const { return lines_end_ - (break_added_ ? 1 : 0); }

  // Moves on to the next whole lines. If there are none, nothing is left, or the line is endless.
  void fill(std::size_t num_bytes) {
    size_ -= lines_end_;
    if (size_ > 0) std::memmove(buffer_.data(), buffer_.data() + lines_end_, size_);
    lines_end_ = 0;
    for (std::size_t wanted = std::max(num_bytes, size_);; wanted = 2 * wanted) {
      buffer_.grow(wanted + kRoomBehind);
      if (!at_end_ && size_ < wanted) {
        const std::size_t got = stream_->read({buffer_.data() + size_, wanted - size_});
        at_end_ = got < wanted - size_;
        size_ += got;
      }
      // The last line may lack its line break.
      if (at_end_ && size_ > 0 && buffer_[size_ - 1] != '\n') {
        buffer_[size_++] = '\n';
        break_added_ = true;
      }
      const char* const begin = buffer_.data();
      const char* last = buffer_.data() + size_;
      while (last != begin && last[-1] != '\n') --last;
      if (last != begin) {
        lines_end_ = static_cast<std::size_t>(last - buffer_.data());
        return;
      }
      if (at_end_ || size_ > longest_line_) return;
    }
  }

  std::unique_ptr<ByteStream> stream_;
  std::size_t longest_line_;
  // buffer_[0, lines_end_) are whole lines, buffer_[lines_end_, size_) is the start of the next.
  Buffer<char, PageSize::kSmall> buffer_;
  std::size_t size_ = 0;
  std::size_t lines_end_ = 0;
  bool at_end_ = false;
  bool break_added_ = false;  // to the last line, which had none
  std::vector<PieceOfText> pieces_;
  std::uint64_t batch_end_ = 0;
};

}  // namespace

std::unique_ptr<TextPieces> make_pieces(std::unique_ptr<SourceFile> file,
                                        std::size_t longest_line) {
  return std::make_unique<FilePieces>(std::move(file), longest_line);
}

std::unique_ptr<TextPieces> make_pieces(std::unique_ptr<ByteStream> stream,
                                        std::size_t longest_line) {
  return std::make_unique<StreamPieces>(std::move(stream), longest_line);
}

}  // namespace graphmount
