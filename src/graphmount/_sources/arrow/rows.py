"""Rows of features from Arrow tables.

Either the columns are numbers, and each is a column of the matrix, or one column holds lists, all
of the same length, and each list is a row. One column of numbers alone is a vector.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.arrow import columns as arrow_columns
from graphmount._sources.arrow.checks import CheckedColumns
from graphmount._sources.arrow.tables import find_column, pyarrow
from graphmount._sources.contract.batches import RowBatch, RowSource
from graphmount._sources.contract.text_values import NUMBERS_ADVICE
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from graphmount._sources.arrow.tables import ArrowTable
    from graphmount._sources.contract.tables import RowRequest
    from graphmount._support.text_columns import TextColumn

_KEY_BYTES = 192


class ArrowRows(RowSource):
    """Rows of a table; a `RowSource`.

    Args:
        table: The table.
        request: Which columns to read, and what to do with rows that cannot be read.

    Raises:
        SourceError: There are no such columns, or they do not hold numbers.
    """

    def __init__(self, table: ArrowTable, request: RowRequest) -> None:
        key, columns = request.key, request.columns
        super().__init__(table.name, table.size)
        self._table = table
        self._on_error = request.on_error
        self._key = None if key is None else find_column(table, key, "key")
        if columns is None:
            self._values = [i for i in range(len(table.schema.names)) if i != self._key]
        else:
            listed = [columns] if isinstance(columns, str | int) else columns
            self._values = [find_column(table, column, "columns") for column in listed]
        if not self._values:
            raise SourceError(f"{table.name} has no column with values")
        self.num_rows = table.num_rows if request.on_error == "raise" else None
        self.has_keys = key is not None
        self.has_text_keys = self._key is not None and arrow_columns.has_text_ids(
            self._table.type_of(self._key), None, self._table.label_of(self._key)
        )
        types = [arrow_columns.plain_type(self._table.type_of(place)) for place in self._values]
        lists = [place for place, kind in zip(self._values, types, strict=True) if _is_list(kind)]
        if lists and len(self._values) > 1:
            raise SourceError(
                f"{table.label_of(lists[0])} holds lists, next to other columns; choose it alone "
                "with columns=, or leave it out"
            )
        self._has_lists = bool(lists)
        self.is_vector = not lists and len(self._values) == 1
        self.num_columns = self._list_length(types[0]) if lists else len(self._values)
        names = table.schema.names
        self.column_names = () if lists else tuple(str(names[place]) for place in self._values)
        self.has_text_values = (
            request.encoder is not None
            and self.is_vector
            and (arrow_columns.is_string(types[0]) or request.encoder.takes_numbers)
        )
        self._is_time = False
        if self.has_text_values:
            self.values_name = table.label_of(self._values[0])
            self._dtype = np.dtype(np.int64)
            self.dtype = self._dtype.name
            return
        self._is_time = request.is_time and self.is_vector and arrow_columns.is_time(types[0])
        if self._is_time:
            self._dtype = np.dtype(np.int64)
            self.dtype = self._dtype.name
            return
        inner = [arrow_columns.plain_type(types[0].value_type)] if lists else types
        self._dtype = self._common_dtype(inner)
        self.dtype = self._dtype.name

    def rename(self, name: str) -> None:
        """See `Source`."""
        super().rename(name)
        self._table.name = name

    def _list_length(self, kind: Any) -> int:  # noqa: ANN401
        if pyarrow("pyarrow.types").is_fixed_size_list(kind):
            return int(kind.list_size)
        column = self._table.first_values(self._values[0])
        for row in () if column is None else arrow_columns.plain(column):
            if row.is_valid:
                return len(row)
        raise SourceError(
            f"{self._table.label_of(self._values[0])}: there is no list at the beginning from "
            "which to take the length of the rows"
        )

    def _common_dtype(self, types: list[Any]) -> np.dtype[Any]:
        dtypes = [
            _dtype_of(kind, self._table.label_of(place))
            for kind, place in zip(types, self._values, strict=True)
        ]
        common: np.dtype[Any] = np.result_type(*dtypes)
        if common.kind == "f" and not any(dtype.kind == "f" for dtype in dtypes):
            raise SourceError(
                f"{self._table.name} has columns of uint64 and of signed integers, which have no "
                "dtype in common; cast one of them"
            )
        return common

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        row_bytes = 3 * self.num_columns * self._dtype.itemsize + _KEY_BYTES * self.has_keys
        places = ([] if self._key is None else [self._key]) + self._values
        check_lists = functools.partial(_bad_lists, length=self.num_columns, dtype=self._dtype)
        check_values = functools.partial(arrow_columns.bad_values, dtype=self._dtype)
        checks: list[Callable[[Any], arrow_columns.BadRows | None]]
        checks = [check_lists if self._has_lists else check_values] * len(self._values)
        if self._is_time:
            checks = [arrow_columns.bad_timestamps]
        if self.has_text_values:
            checks = [_nothing_bad]
            row_bytes += _KEY_BYTES
        if self.has_keys:
            checks.insert(0, functools.partial(arrow_columns.bad_ids, as_text=self.has_text_keys))
        checked = CheckedColumns(
            self._table,
            list(zip(places, checks, strict=True)),
            on_error=self._on_error,
        )
        num_rows = max(1, memory // max(1, row_bytes))
        for columns, done in checked.batches(num_rows, self.skipped):
            keys = None
            if self._key is not None:
                keys = arrow_columns.as_ids(
                    columns.pop(0), as_text=self.has_text_keys, name=self._table.label_of(self._key)
                )
            yield RowBatch(rows=self._rows(columns), keys=keys, done=done)

    def _rows(self, columns: list[Any]) -> NDArray[Any] | TextColumn:
        if self.values_name is not None:
            return arrow_columns.text_of(
                _as_strings(columns[0], self.values_name), self.values_name
            )
        if self._has_lists:
            return _numbers(arrow_columns.plain(columns[0].flatten()), self._dtype).reshape(
                len(columns[0]), self.num_columns
            )
        if self._is_time:
            return arrow_columns.as_timestamps(columns[0])
        if self.is_vector:
            return _numbers(columns[0], self._dtype)
        rows = np.empty((len(columns[0]), len(columns)), self._dtype)
        for number, column in enumerate(columns):
            rows[:, number] = _numbers(column, self._dtype)
        return rows


def _as_strings(column: Any, name: str) -> Any:  # noqa: ANN401
    """A column of text, or of whole numbers, as text: an empty one where a value is missing."""
    arrow, compute = pyarrow(), pyarrow("pyarrow.compute")
    try:
        if pyarrow("pyarrow.types").is_floating(column.type):
            # NaN is a missing value, and no integer.
            is_nan = compute.is_nan(column).fill_null(True)
            nothing = arrow.scalar(None, column.type)
            column = compute.if_else(is_nan, nothing, column).cast(arrow.int64())
        return column.cast(arrow.large_string()).fill_null("")
    except arrow.ArrowException as error:
        raise SourceError(
            f"{name} is no column of text or whole numbers ({str(error)[:200]}); choose another "
            "with columns="
        ) from None


def _nothing_bad(column: Any) -> None:  # noqa: ANN401
    """Text that is missing is known to the encoder."""
    del column


def _is_list(kind: Any) -> bool:  # noqa: ANN401
    types = pyarrow("pyarrow.types")
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _dtype_of(kind: Any, name: str) -> np.dtype[Any]:  # noqa: ANN401
    types = pyarrow("pyarrow.types")
    if types.is_decimal(kind):
        return np.dtype(np.float64 if kind.scale > 0 else np.int64)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        dtype: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return dtype
    raise SourceError(f"{name} is of type {kind}, and features are numbers; {NUMBERS_ADVICE}")


def _numbers(column: Any, dtype: np.dtype[Any]) -> NDArray[Any]:  # noqa: ANN401
    if pyarrow("pyarrow.types").is_decimal(column.type):
        column = column.cast(pyarrow().from_numpy_dtype(dtype))
    return arrow_columns.as_numpy(column).astype(dtype, copy=False)  # cast: has been checked


def _bad_lists(
    column: Any,  # noqa: ANN401
    *,
    length: int,
    dtype: np.dtype[Any],
) -> arrow_columns.BadRows | None:
    bad = arrow_columns.bad_nulls(column)
    if bad is not None:
        return bad
    lengths = arrow_columns.as_numpy(pyarrow("pyarrow.compute").list_value_length(column))
    is_other: NDArray[np.bool_] = lengths != np.int64(length)
    if is_other.any():
        return arrow_columns.bad_where(is_other, f"is not of {length} values, as the first row")
    values = arrow_columns.plain(column.flatten())
    bad = arrow_columns.bad_values(values, dtype=dtype)
    if bad is None:
        return None
    reason = "has a missing value (null)" if values.null_count else f"has one: {bad.reason}"
    return arrow_columns.BadRows(rows=_any_of(bad.rows, len(column)), reason=reason)


def _any_of(values: NDArray[np.bool_], num_rows: int) -> NDArray[np.bool_]:
    """Whether any of the values of each list is so."""
    lists = values.reshape(num_rows, -1)
    return np.any(lists, axis=1) if lists.size else np.zeros(num_rows, np.bool_)
