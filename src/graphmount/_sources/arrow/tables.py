"""Tables of Arrow, and those that are files: Parquet, Feather and Arrow IPC, ORC.

All of them have a schema, and give the columns asked for in record batches. Parquet files are read
so many rows at a time; of the others, a record batch or a stripe, as it was written, is the least
that can be read. pyarrow is imported only here, when a table is opened.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrays.stored_bytes import file_size
from graphmount._support.files.regular_files import require_regular
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Pages of Parquet are read through a buffer, not a column chunk at a time.
_BUFFER_BYTES = 1 << 18
#: How many rows to look at before a table is read.
FIRST_ROWS = 1024


def pyarrow(module: str = "pyarrow") -> Any:  # noqa: ANN401
    """The library, or one of its modules.

    Raises:
        ImportError: It is not installed; the message says how to.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            "this needs pyarrow; install it with: pip install 'graphmount[arrow]'"
        ) from error


class ArrowTable:
    """A table that is read once, from its first row to its last.

    Attributes:
        name: A path, or what the object is.
        schema: The columns, as pyarrow describes them.
        size: Bytes of the file, or rows of an object, if they are known.
        num_rows: How many rows there are, if that is known.
        first_row: What messages call the first row, if it is a part of a larger table.
    """

    first_row = 0
    name: str
    schema: Any
    size: int | None
    num_rows: int | None

    def type_of(self, column: int) -> Any:  # noqa: ANN401
        """The type of a column."""
        return self.schema.field(column).type

    def label_of(self, column: int) -> str:
        """What messages call a column."""
        return f"{self.name}, column {self.schema.names[column]!r}"

    def batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        """These columns in batches of at most `num_rows` rows, and how much has been read."""
        arrow = pyarrow()
        before = 0
        batches = self._batches(columns, num_rows)
        while True:
            try:
                batch, done = next(batches)
            except StopIteration:
                return
            except (arrow.ArrowException, OSError) as error:
                raise unreadable(self.name, error) from error
            for first in range(0, batch.num_rows, num_rows):
                piece = batch.slice(first, num_rows)
                upto = first + piece.num_rows
                yield piece, before + (done - before) * upto // batch.num_rows
            before = done

    def first_values(self, column: int) -> Any:  # noqa: ANN401
        """The beginning of one column, without reading the table for good; None if it is empty."""
        return next((batch.column(0) for batch, _ in self.batches([column], FIRST_ROWS)), None)

    def _names(self, columns: list[int]) -> list[str]:
        """The names by which files are asked for columns."""
        names = [self.schema.names[column] for column in columns]
        for name in names:
            if self.schema.names.count(name) > 1:
                raise SourceError(f"{self.name} has several columns called {name!r}; rename them")
        return names

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        raise NotImplementedError


class ParquetTable(ArrowTable):
    """A Parquet file."""

    def __init__(self, path: str) -> None:
        self._file = pyarrow("pyarrow.parquet").ParquetFile(
            path, pre_buffer=False, buffer_size=_BUFFER_BYTES
        )
        self.name = path
        self.schema = self._file.schema_arrow
        self.size = file_size(path)
        self.num_rows = self._file.metadata.num_rows

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        names = self._names(columns)
        done = 0
        for batch in self._file.iter_batches(num_rows, columns=names, use_threads=False):
            done += batch.num_rows
            # Its columns come in the order of the file.
            yield batch.select(names), (self.size or 0) * done // max(1, self.num_rows or 0)


class IpcTable(ArrowTable):
    """A file of Arrow IPC, also known as Feather; `is_stream` if it has no footer."""

    def __init__(self, path: str, *, is_stream: bool) -> None:
        self._is_stream = is_stream
        self.name = path
        self.size = file_size(path)
        self.num_rows = None
        with pyarrow().OSFile(path) as file:
            self.schema = self._open(file, None).schema

    def _open(self, file: Any, columns: list[int] | None) -> Any:  # noqa: ANN401
        ipc = pyarrow("pyarrow.ipc")
        options = ipc.IpcReadOptions(included_fields=sorted(columns or ()), use_threads=False)
        opener = ipc.open_stream if self._is_stream else ipc.open_file
        return opener(file, options=options)

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        del num_rows  # record batches are as they were written
        names = self._names(columns)
        require_regular(os.stat(self.name).st_mode, self.name)  # by now
        with pyarrow().OSFile(self.name) as file:
            reader = self._open(file, columns)
            if self._is_stream:
                for batch in reader:
                    batch.validate(full=True)
                    yield batch.select(names), file.tell()
                return
            count = reader.num_record_batches
            for number in range(count):
                done = (self.size or 0) * (number + 1) // count
                batch = reader.get_batch(number)
                # Offsets come as they are in the file, and would be followed unchecked.
                batch.validate(full=True)
                yield batch.select(names), done


class OrcTable(ArrowTable):
    """A file of ORC."""

    def __init__(self, path: str) -> None:
        self._file = pyarrow("pyarrow.orc").ORCFile(path)
        self.name = path
        self.schema = self._file.schema
        self.size = file_size(path)
        self.num_rows = self._file.nrows

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        del num_rows  # stripes are as they were written
        names = self._names(columns)
        count = self._file.nstripes
        for number in range(count):
            batch = self._file.read_stripe(number, columns=names)
            yield batch.select(names), (self.size or 0) * (number + 1) // count


def unreadable(name: str, error: Exception) -> SourceError:
    """What to raise where Arrow has failed.

    Args:
        name: What messages call the table.
        error: Arrow's error. Its advice is about Arrow's own options, which users do not have here.
    """
    reason = str(error).partition("\n")[0][:300]
    return SourceError(f"{name} cannot be read: {reason}; write the file again, or get it anew")


def find_column(table: ArrowTable, column: object, option: str) -> int:
    """The number of a column that is given by its name or number.

    Raises:
        SourceError: There is none, or more than one; the message lists them.
    """
    names = table.schema.names
    if isinstance(column, int) and not isinstance(column, bool):
        if 0 <= column < len(names):
            return column
    elif isinstance(column, str):
        if names.count(column) == 1:
            return int(names.index(column))
        if column in names:
            raise SourceError(f"{table.name} has {names.count(column)} columns called {column!r}")
    else:
        raise TypeError(f"{option}={column!r}; a column is given by its name or number")
    listed = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    raise SourceError(f"{table.name} has no column {column!r} ({option}=); it has {listed}")
