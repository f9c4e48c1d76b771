"""Tables of Arrow: Parquet, Feather and Arrow IPC, ORC, and anything that speaks Arrow in memory.

All of them have a schema, and give the columns asked for in record batches. Parquet files are read
so many rows at a time; of the others, a record batch or a stripe, as it was written, is the least
that can be read. pyarrow is imported only here, when a table is opened.
"""

from __future__ import annotations

import importlib
import itertools
import os
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrays.stored_bytes import file_size
from graphmount._support.files.regular_files import require_regular
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Pages of Parquet are read through a buffer, not a column chunk at a time.
_BUFFER_BYTES = 1 << 18


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
    """

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

    def _names(self, columns: list[int]) -> list[str]:
        """The names by which files are asked for columns."""
        names = [self.schema.names[column] for column in columns]
        for name in names:
            if self.schema.names.count(name) > 1:
                raise SourceError(f"{self.name} has several columns called {name!r}; rename them")
        return names

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        raise NotImplementedError


class _ParquetTable(ArrowTable):
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


class _IpcTable(ArrowTable):
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
                # Offsets and such come as they are in the file, and would be followed anywhere.
                batch.validate(full=True)
                yield batch.select(names), done


class _OrcTable(ArrowTable):
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


class _ObjectTable(ArrowTable):
    def __init__(self, source: Any) -> None:  # noqa: ANN401
        kind = type(source)
        self.name = f"a {kind.__module__.partition('.')[0].lstrip('_')} {kind.__name__}"
        self._source: Any = source
        try:
            self._reader: Any = pyarrow().RecordBatchReader.from_stream(source)
        except Exception as error:  # each library has its own
            if type(source).__name__ == "Series" or "non-struct type" in str(error):
                raise TypeError(
                    f"{self.name} is not a table, but one column; pass series.to_frame(), or "
                    "series.to_numpy()"
                ) from error
            raise TypeError(
                f"{self.name} cannot be read as a table: {str(error)[:300]}; each column must be "
                "of one type, and have a name of its own"
            ) from error
        self.schema = self._reader.schema
        self.num_rows = _num_rows(source)
        self.size = self.num_rows
        self._ahead: list[Any] = []
        self._num_read: int | None = None

    def look_ahead(self) -> Any:  # noqa: ANN401
        """The first batch, which will be read again; None if there is none."""
        if not self._ahead:
            self._ahead = list(itertools.islice(self._reader, 1))
        return self._ahead[0] if self._ahead else None

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        del num_rows  # they are in memory already
        if self._reader is None:
            self._open_again()
        reader, self._reader = self._reader, None
        ahead, self._ahead = self._ahead, []
        done = 0
        for batch in itertools.chain(ahead, reader):
            done += batch.num_rows
            yield batch.select(columns), done
        if self._num_read not in (None, done):
            raise self._used_up()
        self._num_read = done

    def _open_again(self) -> None:
        """For another pass, which frames and queries allow, and streams do not."""
        if self._num_read is None:
            raise self._used_up()
        try:
            self._reader = pyarrow().RecordBatchReader.from_stream(self._source)
        except Exception as error:  # each library has its own
            raise self._used_up() from error

    def _used_up(self) -> SourceError:
        return SourceError(f"{self.name} is a stream that has been read; make it anew")


def _num_rows(source: Any) -> int | None:  # noqa: ANN401
    """How many rows an object has, where asking costs nothing (a query would be run for it)."""
    for attribute in ("num_rows", "height"):  # of pyarrow, of Polars
        number = getattr(source, attribute, None)
        if isinstance(number, int):
            return number
    index: Any = getattr(source, "index", None)  # of pandas
    return len(index) if hasattr(index, "__len__") else None


def is_arrow(source: object) -> bool:
    """Whether an object speaks Arrow: Polars, DuckDB, pandas, pyarrow and others."""
    return hasattr(source, "__arrow_c_stream__")


def open_table(source: object, kind: str | None = None) -> ArrowTable:
    """A table.

    Args:
        source: A path, or an object with `__arrow_c_stream__`.
        kind: For a path, what file it is: "parquet", "arrow", "arrow stream" or "orc".

    Raises:
        ImportError: pyarrow is not installed.
        SourceError: The file is damaged.
    """
    if not isinstance(source, str):
        return _ObjectTable(source)
    arrow = pyarrow()
    require_regular(os.stat(source).st_mode, source)  # pyarrow would wait for a pipe
    try:
        if kind == "parquet":
            return _ParquetTable(source)
        if kind == "orc":
            return _OrcTable(source)
        return _IpcTable(source, is_stream=kind == "arrow stream")
    except (arrow.ArrowException, OSError) as error:
        raise unreadable(source, error) from error


def unreadable(name: str, error: Exception) -> SourceError:
    """What to raise where Arrow has failed.

    Args:
        name: What messages call the table.
        error: Why it has; its own advice is about Arrow's options, which nobody has here.
    """
    reason = str(error).partition("\n")[0][:300]
    return SourceError(f"{name} cannot be read: {reason}; write the file again, or get it anew")


def first_batch(table: ArrowTable, column: int) -> Any:  # noqa: ANN401
    """The beginning of one column, without reading the table for good; None if it is empty."""
    if isinstance(table, _ObjectTable):
        batch = table.look_ahead()
        return None if batch is None else batch.column(column)
    return next((batch.column(0) for batch, _ in table.batches([column], 1024)), None)


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
