// Text tables read batch by batch, in the order of their rows, by as many threads as there are.
//
// A batch is as many whole lines as fit into the bytes asked for. They are cut into pieces at line
// breaks, and the pieces are parsed in parallel, straight into their places in the arrays. What is
// delivered, and which error is thrown, does not depend on threads: the first bad line of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graphmount/byte_stream.hpp"
#include "graphmount/text_batch.hpp"
#include "graphmount/text_parser.hpp"

namespace graphmount {

class TextReader {
 public:
  /// `name` is what messages call the stream. `piece_bytes` is what one thread parses at a time.
  TextReader(std::string name, std::unique_ptr<ByteStream> stream, TextLayout layout,
             std::size_t piece_bytes = std::size_t{1} << 18);

  /// The next rows, out of about `num_bytes` of text; nothing at the end. Throws SourceError for
  /// rows that cannot be read, unless they are to be skipped.
  std::optional<TextBatch> read(std::size_t num_bytes);

  /// How many bytes of the stream have been parsed.
  std::uint64_t bytes_read() const { return bytes_read_; }
  /// Rows that could not be read and were left out, and what is wrong with the first of them.
  std::size_t num_skipped() const { return num_skipped_; }
  const std::vector<std::string>& examples() const { return examples_; }

 private:
  bool fill(std::size_t num_bytes);
  void reserve(std::size_t bytes);
  std::string_view take_start(std::string_view lines);
  std::vector<std::string_view> cut(std::string_view lines) const;
  TextBatch parse(std::string_view lines);
  void count_problems(const std::vector<ParsedPiece>& pieces);

  TextParser parser_;
  std::unique_ptr<ByteStream> stream_;
  std::size_t piece_bytes_;

  // buffer_[0, lines_end_) are whole lines, buffer_[lines_end_, size_) is the start of the next.
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t lines_end_ = 0;
  bool at_start_ = true;
  bool at_end_ = false;
  bool break_added_ = false;  // to the last line, which had none
  bool header_is_ahead_;

  std::int64_t next_line_ = 1;
  std::uint64_t bytes_read_ = 0;
  std::size_t num_skipped_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace graphmount
