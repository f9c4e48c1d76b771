// The text of a table, batch by batch, in pieces of whole lines that threads take one by one.
//
// The thread that takes a piece of a file reads it into a little memory, which is still in the
// processor's cache when the piece is parsed. Reading a whole batch first and parsing it afterwards
// takes longer. A line belongs to the piece in which it begins. A stream can only be read in order,
// so there a batch is read whole, and pieces are parts of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "graphmount/system/files/source_file.hpp"
#include "graphmount/system/memory/buffer_pool.hpp"

namespace graphmount {

/// Bytes in a row, from whatever unpacks a file.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `out` with the next bytes. Returns how many; fewer than asked for only at the end.
  virtual std::size_t read(std::span<char> out) = 0;
};

/// Lines, each of which ends with a line break, with kTextPadding readable bytes behind them.
struct PieceOfText {
  std::string_view lines;
  /// Whether what comes next is a line longer than allowed.
  bool is_endless = false;
};

class TextPieces {
 public:
  virtual ~TextPieces() = default;

  /// Moves on to the next lines, of about `num_bytes`, in pieces of about `piece_bytes`; both are
  /// at least 1. Returns how many pieces there are: none at the end.
  virtual std::size_t next_batch(std::size_t num_bytes, std::size_t piece_bytes) = 0;

  /// The lines of a piece, which live as long as `memory` and the batch. May be called by several
  /// threads at once, and more than once.
  virtual PieceOfText read(std::size_t piece, StreamBufferPool::Handle& memory) = 0;

  /// Where the batch ends: how many bytes of the table there are up to there.
  virtual std::uint64_t batch_end() const = 0;
};

/// The text of a file, whose lines have at most `longest_line` bytes.
std::unique_ptr<TextPieces> make_pieces(std::unique_ptr<SourceFile> file, std::size_t longest_line);

/// The text that a stream gives.
std::unique_ptr<TextPieces> make_pieces(std::unique_ptr<ByteStream> stream,
                                        std::size_t longest_line);

}  // namespace graphmount
