// Reads text tables batch by batch, in the order of their rows, with all threads.
//
// A batch is about as many lines as the bytes asked for have. Threads take pieces of it, and parse
// them straight into their places in the arrays. What is delivered, and which error is thrown, does
// not depend on threads: the first bad line of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graphmount/text/batch.hpp"
#include "graphmount/text/lines/parser.hpp"
#include "graphmount/text/pieces.hpp"

namespace graphmount {

class TextReader {
 public:
  /// What one thread parses at a time: little enough to stay in its processor's cache.
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

  /// `text` is a SourceFile or a ByteStream, and `name` what messages call it.
  template <class Text>
  TextReader(std::string name, std::unique_ptr<Text> text, TextLayout layout,
             std::size_t piece_bytes = kPieceBytes)
      : TextReader(std::move(name), make_pieces(std::move(text), layout.longest_line),
                   std::move(layout), piece_bytes) {}

  /// The next rows, out of about `num_bytes` of text; nothing at the end. Throws SourceError for
  /// rows that cannot be read, unless they are to be skipped.
  std::optional<TextBatch> read(std::size_t num_bytes);

  const TextLayout& layout() const { return parser_.layout(); }
  /// How many bytes of the text have been parsed.
  std::uint64_t bytes_read() const { return bytes_read_; }
  /// Rows that could not be read and were left out, and what is wrong with the first of them.
  std::size_t num_skipped() const { return num_skipped_; }
  const std::vector<std::string>& examples() const { return examples_; }

 private:
  struct Piece;

  TextReader(std::string name, std::unique_ptr<TextPieces> pieces, TextLayout layout,
             std::size_t piece_bytes);
  std::size_t next_pieces(std::size_t num_bytes, StreamBufferPool::Handle& memory,
                          std::optional<PieceOfText>& start);
  std::string_view take_start(std::string_view lines);
  TextBatch parse(std::size_t num_pieces, const std::optional<PieceOfText>& start);
  void parse_piece(std::string_view lines, TextBatch& batch, Piece& piece) const;
  void count_problems(const std::vector<Piece>& pieces);

  TextParser parser_;
  std::unique_ptr<TextPieces> pieces_;
  std::size_t piece_bytes_;
  std::vector<StreamBufferPool> array_memory_;  // one for each output
  bool at_start_ = true;
  bool header_is_ahead_;

  std::int64_t next_line_ = 1;
  double lines_per_byte_ = 0;  // of the last batch
  std::uint64_t bytes_read_ = 0;
  std::size_t num_skipped_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace graphmount
