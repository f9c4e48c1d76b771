"""Columns of RelBench's Parquet files: foreign keys as edges, times, and numbers as features.

Row i of a table is node i. A foreign key that is null has no edge. A row without a time is there at
all times, as in RelBench. A number that is null is NaN. Files are read batch by batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.arrow import columns as arrow_columns
from graphmount._sources.arrow.opening import open_table
from graphmount._sources.arrow.tables import find_column, pyarrow
from graphmount._sources.contract.batches import EdgeBatch, EdgeSource, RowBatch, RowSource
from graphmount._sources.contract.file_stamps import stamps_of
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: What RelBench has for a row without a time: the smallest number of nanoseconds, in seconds.
NO_TIME = -(2**63) // 10**9
_ROW_BYTES = 64


class PrimaryKey:
    """The primary key of a table, which must be 0, 1, 2 and so on; looked at once.

    Args:
        path: The file of the table.
        column: The column.
    """

    def __init__(self, path: str, column: str) -> None:
        self._table = open_table(path, "parquet")
        self._place = find_column(self._table, column, "pkey")
        self._is_checked = False

    @property
    def num_rows(self) -> int:
        """How many rows the table has."""
        return self._table.num_rows or 0

    def check(self, memory: int) -> None:
        """Raises unless row i has the key i.

        Raises:
            SourceError: One has another.
        """
        if self._is_checked:
            return
        first = 0
        for batch, _ in self._table.batches([self._place], max(1, memory // _ROW_BYTES)):
            keys = _whole_numbers(batch.column(0), self._table.label_of(self._place), first)
            rows = np.arange(first, first + len(batch))
            wrong = rows[: len(keys)] != keys if len(keys) == len(rows) else np.ones(1, np.bool_)
            if wrong.any():
                raise SourceError(
                    f"{self._table.label_of(self._place)} is not 0, 1, 2, … (see row "
                    f"{first + int(np.argmax(wrong))}), as primary keys of RelBench are"
                )
            first += len(batch)
        self._is_checked = True


class ForeignKeyEdges(EdgeSource):
    """Edges from the rows of a table to those that a foreign key names; an `EdgeSource`.

    Args:
        path: The file of the table.
        column: The foreign key.
        target: The primary key of the table that it refers to.
        is_own: Whether that is the same table.
    """

    def __init__(self, path: str, column: str, target: PrimaryKey, *, is_own: bool) -> None:
        self._table = open_table(path, "parquet")
        super().__init__(path, self._table.size)
        self._place = find_column(self._table, column, "fkeys")
        self._target = target
        if is_own:
            self.num_nodes = target.num_rows
        else:
            self.num_ends = (self._table.num_rows or 0, target.num_rows)
        self.stamps = stamps_of([path])

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        self._target.check(memory)
        label, first = self._table.label_of(self._place), 0
        for batch, done in self._table.batches([self._place], max(1, memory // _ROW_BYTES)):
            column = _without_nan(batch.column(0))
            there = np.flatnonzero(arrow_columns.as_numpy(column.is_valid()))
            keys = _whole_numbers(column, label, first)
            wrong = (keys < 0) | (keys >= self._target.num_rows)
            if wrong.any():
                place = int(np.argmax(wrong))
                raise SourceError(
                    f"{label}, row {first + int(there[place])}: {keys[place]} is no row of the "
                    f"other table, which has {self._target.num_rows}"
                )
            yield EdgeBatch(src=there + first, dst=keys, done=done)
            first += len(batch)


class TimeRows(RowSource):
    """The times of the rows of a table, in seconds since 1970; a `RowSource`.

    Args:
        path: The file of the table.
        column: The column of times, dates or whole numbers.
    """

    num_columns = 1
    is_vector = True
    dtype = "int64"

    def __init__(self, path: str, column: str) -> None:
        self._table = open_table(path, "parquet")
        super().__init__(path, self._table.size)
        self._place = find_column(self._table, column, "time_col")
        self.num_rows = self._table.num_rows
        self.column_names = (column,)
        self.stamps = stamps_of([path])
        arrow_columns.require_timestamps(
            self._table.type_of(self._place), self._table.label_of(self._place)
        )

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        for batch, done in self._table.batches([self._place], max(1, memory // _ROW_BYTES)):
            column = arrow_columns.plain(batch.column(0))
            times = np.full(len(column), NO_TIME, np.int64)
            there = np.flatnonzero(arrow_columns.as_numpy(column.is_valid()))
            times[there] = arrow_columns.as_timestamps(column.drop_null())
            yield RowBatch(rows=times, done=done)


class NumberRows(RowSource):
    """Columns of numbers, as floats, in which a null is NaN; a `RowSource`.

    Args:
        path: The file of the table.
        columns: The columns.
    """

    is_vector = False

    def __init__(self, path: str, columns: list[str]) -> None:
        self._table = open_table(path, "parquet")
        super().__init__(path, self._table.size)
        self._places = [find_column(self._table, column, "columns") for column in columns]
        self.num_rows = self._table.num_rows
        self.num_columns = len(columns)
        self.column_names = tuple(columns)
        self.stamps = stamps_of([path])
        is_small = all(_fits_float32(self._table.type_of(place)) for place in self._places)
        self.dtype = "float32" if is_small else "float64"

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        row_bytes = 3 * self.num_columns * np.dtype(self.dtype).itemsize
        for batch, done in self._table.batches(self._places, max(1, memory // row_bytes)):
            rows = np.full((len(batch), self.num_columns), np.nan, self.dtype)
            for number in range(self.num_columns):
                column = arrow_columns.plain(batch.column(number))
                there = np.flatnonzero(arrow_columns.as_numpy(column.is_valid()))
                rows[there, number] = arrow_columns.as_numpy(column.drop_null())
            yield RowBatch(rows=rows, done=done)


def number_columns(path: str) -> tuple[list[str], list[str]]:
    """The columns of a Parquet file that hold numbers, and the others.

    Args:
        path: The file.
    """
    table, types = open_table(path, "parquet"), pyarrow("pyarrow.types")
    numbers: list[str] = []
    others: list[str] = []
    for place, name in enumerate(table.schema.names):
        kind = arrow_columns.plain_type(table.type_of(place))
        is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
        (numbers if is_number else others).append(name)
    return numbers, others


def count_rows(path: str) -> int:
    """How many rows a Parquet file has."""
    return open_table(path, "parquet").num_rows or 0


def _fits_float32(kind: Any) -> bool:  # noqa: ANN401
    """Whether float32 has all numbers of a type."""
    types, plain = pyarrow("pyarrow.types"), arrow_columns.plain_type(kind)
    return bool(
        types.is_boolean(plain)
        or types.is_float16(plain)
        or types.is_float32(plain)
        or (types.is_integer(plain) and plain.bit_width <= 16)
    )


def _without_nan(column: Any) -> Any:  # noqa: ANN401
    """A plain column of keys, in which NaN is null: pandas makes floats of keys with gaps."""
    column = arrow_columns.plain(column)
    if not pyarrow("pyarrow.types").is_floating(column.type):
        return column
    nothing = pyarrow().scalar(None, column.type)
    compute = pyarrow("pyarrow.compute")
    return compute.if_else(compute.is_nan(column).fill_null(True), nothing, column)


def _whole_numbers(column: Any, label: str, first: int) -> NDArray[np.int64]:  # noqa: ANN401
    """The keys of a column that are there, as integers."""
    arrow = pyarrow()
    column = _without_nan(column)
    try:
        keys = arrow_columns.as_numpy(column.drop_null().cast(arrow.int64()))
    except (arrow.ArrowException, NotImplementedError) as error:
        raise SourceError(
            f"{label}, from row {first} on: keys are whole numbers ({str(error)[:200]})"
        ) from None
    return np.ascontiguousarray(keys, np.int64)
