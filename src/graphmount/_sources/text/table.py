"""A text table on its way into the core: what was said of it, and what was found out.

`TextTable` is what sources of edges and of rows have in common: the file and its sample, columns by
name or number, and batches of arrays.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from graphmount import _core
from graphmount._sources.text.compression import UnpackedStream
from graphmount._sources.text.sniff import (
    find_delimiter,
    has_fractions,
    is_all,
    is_header,
    read_sample,
)
from graphmount._support.arguments import as_count, require_choice, require_text
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._sources.contract.batches import Skipped
    from graphmount._sources.contract.tables import EdgeRequest, KeyKind, RowRequest
    from graphmount._sources.text.sniff import Kind, Row

#: One array to make: the type of its items, and the columns they come from.
Output: TypeAlias = "tuple[str, list[int]]"

_LEAST_BATCH_BYTES = 4096
#: From here on threads are worth starting.
_MANY_BYTES = 16 << 20
_MOST_AHEAD_BYTES = 32 << 20
_LONGEST_LINE_MIB = 16


class TextTable:
    """A text file and how to read it.

    Attributes:
        name: The path, as it was given.
        size: The size of the file, compressed as it may be.
        header: Whether the first row holds names; if None, `settle_header` finds out.
        rows: The first rows, with the header if there is one.
    """

    def __init__(self, path: str, request: EdgeRequest | RowRequest) -> None:
        delimiter, comments = request.delimiter, request.comments
        require_choice("header", request.header, (None, True, False))
        require_text("delimiter", delimiter)
        require_text("comments", comments)
        if comments is None:
            raise TypeError("comments=None; pass '' if no line is a comment")
        self.name = path
        self.size = os.stat(path).st_size
        self.header = request.header
        self._comments = comments
        self._skips = request.on_error == "skip"
        if self.size > _MANY_BYTES:
            _core.start_threads()  # they get their processors while the sample is looked at
        self._sample = read_sample(self.name)
        if delimiter is None:
            found, self.rows = find_delimiter(self._sample, comments=comments)
        else:
            found = "" if delimiter == " " else delimiter
            self.rows = self._sample.rows(delimiter=found, comments=comments)
        self._delimiter = found

    @property
    def data_rows(self) -> list[Row]:
        """The first rows without the header."""
        return self.rows[1:] if self.header else self.rows

    @property
    def num_columns(self) -> int:
        """How many columns most of the first rows have; 0 if there is no row."""
        widths = Counter(map(len, self.data_rows or self.rows))
        return widths.most_common(1)[0][0] if widths else 0

    @property
    def estimated_rows(self) -> int | None:
        """About how many rows there are; None if the file is compressed."""
        if self._sample.compression is not None:
            return None
        return round(self.size / self._line_bytes)

    @property
    def _line_bytes(self) -> float:
        text = self._sample.text
        return len(text) / max(text.count(b"\n"), 1) or 1.0

    def find_optional(self, column: object, argument: str) -> int | None:
        """The number of a column, or None for none."""
        return None if column is None else self.find_column(column, argument)

    def find_column(self, column: object, argument: str) -> int:
        """The number of a column that was given by its name or number."""
        if not isinstance(column, str):
            return as_count(column, argument)
        if self.header is False:
            raise ValueError(
                f"{argument}={column!r} is a name, but header=False says there are none"
            )
        self.header = True
        if not self.rows:
            return 0  # of no row
        names = [name.decode(errors="replace") for name in self.rows[0]]
        if names.count(column) == 1:
            return names.index(column)
        if column in names:
            raise SourceError(
                f"{self.name}: several columns are called {column!r}; give the number of the one "
                f"you mean, from 0 to {len(names) - 1}"
            )
        raise SourceError(
            f"{self.name}: no column is called {column!r}; there are "
            f"{', '.join(map(repr, names[:50]))}"
        )

    def column_name(self, column: int) -> str | None:
        """What the header calls a column; None if there is no header, or no such column in it."""
        if not self.header or not self.rows or column >= len(self.rows[0]):
            return None
        return self.rows[0][column].decode(errors="replace")

    def settle_header(self, picks: list[tuple[int, Kind]]) -> None:
        """Finds out whether there is a header, by the columns that matter, if nobody said."""
        if self.header is None:
            self.header = bool(self.rows) and is_header(self.rows, picks)

    def is_all(self, column: int, kind: Kind) -> bool:
        """Whether a column can be read as this kind, as far as the sample tells."""
        return is_all(self.data_rows, column, kind, most=self._skips)

    def is_integer(self, column: int) -> bool:
        """Whether a column of values can be read as int64, as far as the sample tells.

        Rows that will be left out do not count, but a NaN or a fraction is not left out: it is a
        number, and says that the column is of floats.
        """
        return self.is_all(column, "integer") and not has_fractions(self.data_rows, column)

    def key_type(self, keys: KeyKind | None, columns: list[int]) -> str:
        """What the core should make of columns of node ids."""
        if keys is None:
            # A column that does not exist has no kind; the reader reports what is wrong.
            is_int = not self.data_rows or all(
                self.is_all(column, "id") or not self._has_column(column) for column in columns
            )
            keys = "int" if is_int else "text"
        return {"dense": "node_id", "int": "key", "text": "text"}[keys]

    def _has_column(self, column: int) -> bool:
        return any(column < len(row) for row in self.data_rows)

    def read(
        self, outputs: list[Output], skipped: Skipped, *, memory: int
    ) -> Iterator[tuple[list[Any], int]]:
        """Arrays of all rows, batch by batch, one an output; and how much of the file is done.

        Rows that are left out are added to `skipped`.
        """
        as_count(memory, "memory", least=1)
        compression = self._sample.compression
        stream = None
        if compression is not None:
            ahead = min(_MOST_AHEAD_BYTES, memory // 8)
            memory -= ahead
            stream = UnpackedStream(self.name, compression, ahead=ahead)
        num_bytes = max(_LEAST_BATCH_BYTES, int(memory * self._share_of_text(outputs)))
        try:
            reader = _core.TextReader(
                os.fsencode(self.name),
                stream=stream,
                delimiter=self._delimiter,
                comments=self._comments,
                quotes=True,
                header=bool(self.header),
                outputs=outputs,
                skip_errors=self._skips,
                longest_line=_longest_line(memory),
            )
            num_skipped, num_examples = 0, 0
            arrays: list[Any] | None = []
            while arrays is not None:
                arrays = reader.read(num_bytes)
                # Added, not set: the consumer of the batches may have counted rows as well.
                examples = reader.examples
                skipped.add(reader.num_skipped - num_skipped, examples[num_examples:])
                num_skipped, num_examples = reader.num_skipped, len(examples)
                if arrays is not None:
                    yield arrays, reader.bytes_read if stream is None else stream.done
        except SourceError as error:
            error.path = self.name
            raise
        finally:
            if stream is not None:
                stream.close()

    def _share_of_text(self, outputs: list[Output]) -> float:
        """How much of the memory for a batch its text takes; the rest is for arrays."""
        line_bytes = self._line_bytes
        array_bytes = 0.0
        for kind, columns in outputs:
            array_bytes += (4 if kind == "float32" else 8) * len(columns)
            if kind in ("text", "label"):
                # The text of a column is put together after it has been parsed in pieces.
                array_bytes += 2 * line_bytes / max(self.num_columns, 1)
        return line_bytes / (line_bytes + array_bytes)


def _longest_line(memory: int) -> int:
    """How long a line may be that is in memory beside batches of this size: 1 to 16 MiB."""
    return min(_LONGEST_LINE_MIB, max(1, memory >> 20)) << 20
