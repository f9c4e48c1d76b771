"""Text tables as sources: edges, or rows of features, in .csv, .tsv, .txt, .edges and such files.

Fields are separated by commas, tabs, semicolons or blanks, and may be in double quotes, in which
two stand for one; a field may not hold a line break. Blanks around a field do not belong to it,
unless they are in quotes. Blank lines and lines that begin with `#` or `%` are left out. Files may
be compressed with gzip, bzip2, xz or zstd. What is not said is guessed from the first 256 KiB.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from graphmount._sources.contract.batches import EdgeBatch, EdgeSource, RowBatch, RowSource
from graphmount._sources.contract.text_values import NUMBERS_ADVICE, mixed_labels
from graphmount._sources.text.sniff import is_kind
from graphmount._sources.text.table import TextTable
from graphmount._support.arguments import as_native, require_choice
from graphmount._support.shown import shown
from graphmount._support.text_columns import from_core
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._sources.contract.tables import EdgeRequest, RowRequest
    from graphmount._sources.text.sniff import Kind
    from graphmount._sources.text.table import Output

#: Where the core's messages have the column, counted from 1.
_PLACE = re.compile(r", column (\d+)(?=: )")
#: More than this at once makes nothing faster.
_LARGEST_BATCH_BYTES = 16 << 20


class TextEdges(EdgeSource):
    """The edges in a text table; an `EdgeSource`.

    Times are integers, or dates and times as in ISO 8601, which become seconds since 1970 (of UTC,
    unless they have an offset; parts of a second are cut off).

    Args:
        path: The file.
        request: Which columns to read, and how.

    Raises:
        SourceError: The file is no text table, or there is no such column.
        OSError: The file cannot be read.
    """

    def __init__(self, path: str, request: EdgeRequest) -> None:
        self._table = table = TextTable(path, request)
        columns = (0, 1) if request.columns is None else request.columns
        if not isinstance(columns, list | tuple) or len(columns) != 2:
            raise ValueError(
                f"columns={shown(columns)}; give two, where edges begin and where they end"
            )
        ends = [table.find_column(column, "columns") for column in columns]
        weight = table.find_optional(request.weights, "weights")
        time = table.find_optional(request.timestamps, "timestamps")
        picks: list[tuple[int, Kind]] = [(column, "id") for column in ends]
        if weight is not None:
            picks.append((weight, "number"))
        if time is not None:
            picks += [(time, "integer"), (time, "time")]
        table.settle_header(picks)
        key_type = table.key_type(request.keys, ends)
        self._outputs: list[Output] = [(key_type, [column]) for column in ends]
        if weight is not None:
            self._outputs.append(("float32", [weight]))
        if time is not None:
            self._outputs.append(("time" if table.is_all(time, "time") else "int64", [time]))
        super().__init__(table.name, table.size)
        self.estimated_edges = table.estimated_rows
        self.has_text_ids = key_type == "text"
        is_doubtful = self.has_text_ids and request.header is None and not table.header
        self.num_doubtful_lines = int(is_doubtful)
        self.has_weights = weight is not None
        self.has_timestamps = time is not None

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """All edges, from the first on, in batches for which about `memory` bytes are used."""
        for arrays, done in self._table.read(self._outputs, self.skipped, memory=memory):
            src, dst, *others = arrays
            weights = others.pop(0) if self.has_weights else None
            times = as_native(others.pop(0)) if self.has_timestamps else None
            yield EdgeBatch(
                src=from_core(src), dst=from_core(dst), weights=weights, timestamps=times, done=done
            )


class TextRows(RowSource):
    """The rows of a text table, as features or labels; a `RowSource`.

    Args:
        path: The file.
        request: Which columns to read, and how. They are read as its `source_dtype`; if that is
            None, as int64 if all values in the first rows are integers, else as float32.

    Raises:
        SourceError: The file is no text table, or there is no such column.
        OSError: The file cannot be read.
    """

    def __init__(self, path: str, request: RowRequest) -> None:
        dtype = request.source_dtype
        require_choice("dtype", dtype, ("float32", "float64", "int64", None))
        self._table = table = TextTable(path, request)
        key_column = table.find_optional(request.key, "key")
        values = self._find_values(request.columns, key_column)
        picks: list[tuple[int, Kind]] = [(column, "number") for column in values]
        if request.is_time:
            picks += [(column, "time") for column in values]
        if key_column is not None:
            picks.append((key_column, "id"))
        table.settle_header(picks)
        self._request = request
        self.has_text_values = len(values) == 1 and self._is_text(values[0])
        # A guess of integers may turn out to be wrong.
        self._dtype_is_guessed = (
            dtype is None
            and not self.has_text_values
            and bool(table.data_rows)
            and all(table.is_integer(column) for column in values)
        )
        self.dtype: str = str(dtype or ("int64" if self._dtype_is_guessed else "float32"))
        self._outputs: list[Output] = [(self.dtype, values)]
        if self.has_text_values:
            self.is_number = _is_number
            self.dtype, self._outputs = "int64", [("label", values)]
        if request.is_time and len(values) == 1 and table.is_all(values[0], "time"):
            self.dtype, self._outputs = "int64", [("time", values)]
        key_type = None
        if key_column is not None:
            key_type = table.key_type(None, [key_column])
            self._outputs.append((key_type, [key_column]))
        super().__init__(table.name, table.size)
        self.num_columns = len(values)
        self.is_vector = len(values) == 1
        names = [table.column_name(column) for column in values]
        self.column_names = tuple(name for name in names if name) if all(names) else ()
        self.has_keys = key_column is not None
        self.has_text_keys = key_type == "text"

    def _is_text(self, column: int) -> bool:
        """Whether a column of labels is text, as far as the first rows tell.

        Raises:
            SourceError: Some of them are text, and others are numbers.
        """
        encoder = self._request.encoder
        if encoder is None or encoder.takes_numbers:
            return encoder is not None
        rows = enumerate(row[column] for row in self._table.data_rows if column < len(row))
        labels = [(place, label) for place, label in rows if label]
        are_numbers = [_is_number(label) for _, label in labels]
        if any(are_numbers) and not all(are_numbers) and self._request.on_error == "raise":
            first = are_numbers.index(not are_numbers[0])
            raise mixed_labels(self._table.name, *labels[first], is_number=are_numbers[first])
        return bool(labels) and not any(are_numbers)

    def _find_values(
        self, columns: Sequence[int] | Sequence[str] | None, key_column: int | None
    ) -> list[int]:
        if columns is None:
            if self._table.data_rows and not any(self._table.data_rows):
                raise SourceError(
                    f"{self._table.name}: its first lines cannot be split into columns, of which "
                    "there are 1048576 at most; this does not look like a text table, or the "
                    "delimiter is another one: pass delimiter="
                )
            # A table without a row has no columns; one of none is as good as any other number.
            found = [c for c in range(max(self._table.num_columns, 1)) if c != key_column]
            if not found and self._table.num_columns == 0:
                return [0]
        else:
            picked = [columns] if isinstance(columns, str | int) else list(columns)
            found = [self._table.find_column(column, "columns") for column in picked]
        if not found:
            raise SourceError(f"{self._table.name}: there is no column of values besides the key")
        return found

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """All rows, from the first on, in batches for which about `memory` bytes are used."""
        memory = min(memory, _LARGEST_BATCH_BYTES)
        try:
            for arrays, done in self._table.read(self._outputs, self.skipped, memory=memory):
                yield RowBatch(
                    rows=from_core(arrays[0]) if self.has_text_values else self._shape(arrays[0]),
                    keys=from_core(arrays[1]) if self.has_keys else None,
                    done=done,
                )
        except SourceError as error:
            message = self._advised(str(error))
            if message == str(error):
                raise
            better = SourceError(message)
            better.path = error.path
            raise better from None

    def _advised(self, message: str) -> str:
        """The core's message about a value that is text, with the name of its column and advice."""
        is_label = self._request.encoder is not None
        if self._dtype_is_guessed and message.endswith("is not an integer"):
            other = "if labels are text, dtype='str'; else " if is_label else ""
            return f'{message}, as in the first rows; {other}pass dtype="float32"'
        if not message.endswith("is not a number"):
            return message
        found = _PLACE.search(message)
        name = None if found is None else self._table.column_name(int(found[1]) - 1)
        if found is not None and name is not None:
            message = f"{message[: found.end()]} ({shown(name)}){message[found.end() :]}"
        if is_label:
            return f"{message}; if labels are text, pass Table(source=…, dtype='str')"
        return f"{message}; {NUMBERS_ADVICE}"

    def _shape(self, values: NDArray[Any]) -> NDArray[np.float32 | np.float64 | np.int64]:
        shape = (-1,) if self.is_vector else (-1, self.num_columns)
        return as_native(values).reshape(shape)


def _is_number(label: bytes) -> bool:
    return is_kind(label, "number")
