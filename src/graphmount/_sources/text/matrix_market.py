"""Matrix Market files, `.mtx` and `.mtx.gz`: entry (i, j) of the matrix is an edge from i to j.

Ids count from 1 there and from 0 here. A symmetric matrix has one triangle in its file; the source
then says that its edges run both ways. The file is read block by block, and no line of it may be
longer than 64 KiB: the standard has lines of 1,024 characters.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from graphmount import _core
from graphmount._sources.arrays.matrix_edges import of_shape
from graphmount._sources.arrays.stored_bytes import file_size
from graphmount._sources.contract.batches import EdgeBatch, EdgeSource
from graphmount._sources.contract.claims import MOST_NODES
from graphmount._sources.contract.exact import as_weights
from graphmount._support.arguments import as_native
from graphmount._support.files.regular_files import open_regular
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from graphmount._sources.contract.tables import OnError

MTX_MAGIC = b"%%MatrixMarket"

#: What a byte of text takes while it is parsed: itself, its numbers, and masks of the blanks.
_BYTES_FOR_EACH = 8
_LONGEST_LINE = 1 << 16
#: Sizes have fewer digits: int64 is where they go.
_MOST_DIGITS = 18


def _first_long_line(lines: bytes) -> int | None:
    """Where the first line begins that is too long, if there is one."""
    start = 0
    while len(lines) - start >= _LONGEST_LINE:
        end = lines.rfind(b"\n", start, start + _LONGEST_LINE)
        if end < 0:
            return start
        start = end + 1
    return None


class MatrixMarketEdges(EdgeSource):
    """Edges of a Matrix Market file; an `EdgeSource`.

    Args:
        path: The file, compressed with gzip or not.
        weights: Whether to take the values for weights.
        on_error: "raise", or "skip" for lines that cannot be read.

    Raises:
        SourceError: The file is not a sparse matrix of numbers.
    """

    def __init__(self, path: str, *, weights: bool = False, on_error: OnError = "raise") -> None:
        super().__init__(path, file_size(path))
        self._on_error = on_error
        with open_regular(path) as raw, _unpacked(raw) as file:
            field, symmetry, self._num_lines = self._read_banner(file)
            shape = self._read_size(file)
            self._body = file.tell()
        if symmetry == "symmetric" and shape[0] != shape[1]:
            raise SourceError(f"{path} is symmetric, and {shape[0]} by {shape[1]}")
        if weights and field == "pattern":
            raise SourceError(f"{path} is a pattern without values, so it has no weights")
        self._width = 2 if field == "pattern" else 3
        self._num_entries = shape[2]
        # Not those in `skipped`, where the consumer of the edges counts what it leaves out as well.
        self._num_bad_lines = 0
        self.num_edges = None if on_error == "skip" else shape[2]
        self._shape = shape[:2]
        of_shape(self, self._shape)
        self.is_symmetric = symmetry == "symmetric"
        self.has_weights = weights

    def _read_banner(self, file: IO[bytes]) -> tuple[str, str, int]:
        words = self._line(file, 1).decode("latin-1").lower().split()
        if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
            raise SourceError(
                f"{self.name}, line 1: a Matrix Market file begins with '%%MatrixMarket matrix' "
                "and three more words"
            )
        layout, field, symmetry = words[2:]
        if layout != "coordinate":
            raise SourceError(f"{self.name} is a dense matrix ({layout}); edges are 'coordinate'")
        if field not in ("pattern", "real", "integer"):
            raise SourceError(
                f"{self.name} holds {field} values; edges are 'pattern', 'real' or 'integer'"
            )
        if symmetry not in ("general", "symmetric"):
            raise SourceError(
                f"{self.name} is {symmetry}: half of its values are to be negated or conjugated; "
                "edges are 'general' or 'symmetric'"
            )
        return field, symmetry, 1

    def _read_size(self, file: IO[bytes]) -> tuple[int, int, int]:
        while True:
            self._num_lines += 1
            line = self._line(file, self._num_lines)
            if line.strip() and not line.startswith(b"%"):
                break
        words = line.split()
        if len(words) != 3 or not all(w.isdigit() and len(w) <= _MOST_DIGITS for w in words):
            raise SourceError(
                f"{self.name}, line {self._num_lines}: expected rows, columns and entries, found "
                f"{shown(line.strip().decode('latin-1'))}"
            )
        num_rows, num_columns, num_entries = map(int, words)
        if max(num_rows, num_columns) > MOST_NODES:
            raise SourceError(
                f"{self.name}, line {self._num_lines}: a graph of {max(num_rows, num_columns)} "
                f"nodes is beyond the {MOST_NODES} that there can be; is this line damaged?"
            )
        return num_rows, num_columns, num_entries

    def _line(self, file: IO[bytes], number: int) -> bytes:
        try:
            line = file.readline(_LONGEST_LINE)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._damaged(error) from error
        if not line:
            raise SourceError(
                f"{self.name} ends at line {number}, before its entries; get the file anew"
            )
        if _first_long_line(line) is not None:
            raise self._too_long(number)
        return line

    def _too_long(self, number: int) -> SourceError:
        return SourceError(
            f"{self.name}, line {number}: longer than {_LONGEST_LINE >> 10} KiB; lines of a "
            "Matrix Market file have 1,024 characters at most, so this is none, or damaged"
        )

    def _damaged(self, error: Exception) -> SourceError:
        return SourceError(f"{self.name} is damaged: {error}; get the file anew")

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        num_entries = 0
        self._num_bad_lines = 0
        for block, before, done in self._blocks(max(1, memory // _BYTES_FOR_EACH)):
            columns = self._parse(block, before)
            ids = columns[:2]
            first = num_entries
            num_entries += len(ids[0])
            yield EdgeBatch(
                src=cast("NDArray[np.int64]", ids[0]),
                dst=cast("NDArray[np.int64]", ids[1]),
                weights=as_weights(columns[2], self.name, first) if self.has_weights else None,
                done=done,
            )
        num_entries += self._num_bad_lines
        if num_entries != self._num_entries:
            raise SourceError(
                f"{self.name} says that it has {self._num_entries} entries, but has {num_entries}"
            )

    def _blocks(self, num_bytes: int) -> Iterator[tuple[bytes, int, int]]:
        """Whole lines, about so many bytes at a time.

        With each block, how many lines come before it, and how far the file is read with it.
        """
        num_lines = self._num_lines
        with open_regular(self.name) as raw, _unpacked(raw) as file:
            try:
                file.seek(self._body)
                while block := file.read(num_bytes):
                    if not block.endswith(b"\n"):
                        block += file.readline(_LONGEST_LINE)
                    # Errors in the lines before a line that is too long are reported first.
                    long_line = _first_long_line(block)
                    block = block[:long_line]
                    before = num_lines
                    num_lines += block.count(b"\n")
                    if block:
                        yield block, before, raw.tell()
                    if long_line is not None:
                        raise self._too_long(num_lines + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self._damaged(error) from error

    def _parse(self, block: bytes, num_lines: int) -> list[NDArray[Any]]:
        """Columns of a block of lines, of which `num_lines` come before it; ids from 0."""
        try:
            columns = self._parse_all(block)
            if len(columns) == self._width and all(
                self._in_range(x, most).all()
                for x, most in zip(columns[:2], self._shape, strict=True)
            ):
                return [columns[0] - 1, columns[1] - 1, *columns[2:]]
        except SourceError:
            pass  # the lines one by one will show where
        rows = []
        for number, line in enumerate(block.split(b"\n"), num_lines + 1):
            if line.strip():
                row = self._parse_line(line, number)
                rows += [] if row is None else [row]
        table = list(zip(*rows, strict=True)) or [()] * self._width
        ids = [np.array(column, np.int64) - 1 for column in table[:2]]
        return [*ids, *(np.array(column, np.float64) for column in table[2:])]

    def _parse_all(self, block: bytes) -> list[NDArray[Any]]:
        """Columns of a block in which every line is as it should be; raises if one is not."""
        outputs = [("node_id", [0]), ("node_id", [1]), ("float64", [2])]
        reader = _core.TextReader(
            os.fsencode(self.name),
            stream=io.BytesIO(block),
            delimiter="",  # any blanks
            comments="",
            quotes=False,
            header=False,
            outputs=outputs[: self._width],
            skip_errors=False,
        )
        parts = []
        while (arrays := reader.read(len(block))) is not None:
            parts.append(arrays)
        columns = [as_native(np.concatenate(arrays)) for arrays in zip(*parts, strict=True)]
        # Each line has the words that are needed; that none has more shows in their number.
        if columns and _count_words(block) != self._width * len(columns[0]):
            raise SourceError(f"{self.name}: a line has too many words")
        return columns

    @staticmethod
    def _in_range(ids: NDArray[Any], most: int) -> NDArray[np.bool_]:
        return (ids >= 1) & (ids <= most)

    def _parse_line(self, line: bytes, number: int) -> tuple[float, ...] | None:
        words = line.split()
        try:
            if len(words) != self._width or b"_" in line:
                raise ValueError  # noqa: TRY301  (as if it could not be read as a number)
            row: tuple[float, ...] = (int(words[0]), int(words[1]), *map(float, words[2:]))
            if all(1 <= end <= most for end, most in zip(row[:2], self._shape, strict=True)):
                return row
            num_rows, num_columns = self._shape
            problem = f"ids are from 1 to {num_rows}"
            if num_rows != num_columns:
                problem = f"rows are from 1 to {num_rows}, columns from 1 to {num_columns}"
        except ValueError:
            problem = f"expected {self._width} numbers"
        text = line.strip().decode("latin-1")
        message = f"{self.name}, line {number}: {problem}, found {shown(text)}"
        if self._on_error == "raise":
            raise SourceError(message)
        self.skipped.add(1, [message])
        self._num_bad_lines += 1
        return None


def _unpacked(raw: IO[bytes]) -> IO[bytes]:
    """The content of an open file that may be compressed."""
    is_gzip = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    return cast("IO[bytes]", gzip.open(raw, "rb")) if is_gzip else raw


# The characters at which `bytes.split` separates words. Other control characters are damage, and
# count as parts of words.
_BLANKS = np.zeros(256, np.bool_)
_BLANKS[list(b" \t\n\r\x0b\x0c")] = True


def _count_words(block: bytes) -> int:
    is_space = _BLANKS[np.frombuffer(block, np.uint8)]
    return int(np.count_nonzero(is_space[:-1] & ~is_space[1:])) + int(not is_space[0])
