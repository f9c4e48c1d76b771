"""How the rows of a table are stored: as which dtype, quantized or not, and what for missing ones.

Quantized features are int8 with a scale for each column: value = integer * scale. The scale of a
column is its largest absolute value over 127, so that every value is within half a scale of what is
stored. A column of zeros has the scale 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.contract.nan import require_nan_policy
from graphmount._support.arguments import as_number, require_choice
from graphmount._support.conversion import DTypeName, convert, dtype_name, widen
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._sources.contract.batches import RowSource
    from graphmount._sources.contract.tables import Table

_LARGEST = 127


class ColumnRange:
    """The largest absolute value of each column, over all rows seen so far."""

    def __init__(self, num_columns: int) -> None:
        self.largest = np.zeros(num_columns, np.float64)

    def see(self, rows: NDArray[Any], dtype: str, first_row: int) -> None:
        """Takes some rows into account.

        Raises:
            SourceError: A value is infinite or NaN.
        """
        if rows.size == 0:
            return
        table, lowest, highest = _ends(rows, dtype)
        if not (np.isfinite(highest).all() and np.isfinite(lowest).all()):
            row, column = np.argwhere(~np.isfinite(table))[0]
            where = f"row {first_row + int(row)}"
            where += f", column {column}" if rows.ndim == 2 else ""
            is_nan = bool(np.isnan(table[row, column]))
            raise SourceError(
                f"{where}: {table[row, column]} cannot be quantized; clean the source"
                + (", or pass nan= with a number to put there" if is_nan else "")
            )
        np.maximum(self.largest, np.maximum(np.abs(highest), np.abs(lowest)), out=self.largest)

    def scales(self) -> NDArray[np.float32]:
        """One for each column.

        Raises:
            SourceError: A column has values that are too large for any scale.
        """
        with np.errstate(over="ignore", under="ignore"):
            scales = (self.largest / _LARGEST).astype(np.float32)
        if not np.isfinite(scales).all():
            column = int(np.argmax(~np.isfinite(scales)))
            raise SourceError(
                f"column {column}: {self.largest[column]} is too large to be quantized; pass "
                "dtype='float64' and leave quantize= out"
            )
        return scales


def _ends(
    rows: NDArray[Any], dtype: str
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Rows as a table of plain numbers, and the least and the largest one of each column.

    As floats: minus the least int8 is no int8.
    """
    table = widen(rows, dtype).reshape(len(rows), -1)
    return table, table.min(axis=0).astype(np.float64), table.max(axis=0).astype(np.float64)


def require_seen(
    rows: NDArray[Any], dtype: str, largest: NDArray[np.float64], first_row: int
) -> None:
    """Raises if values are beyond those that the scales were made of.

    Args:
        rows: Some rows.
        dtype: The name of their dtype.
        largest: The largest absolute value that was seen of each column.
        first_row: Where the rows stand in the source, for messages.

    Raises:
        SourceError: One is larger, or no number: the source has changed since.
    """
    if rows.size == 0:
        return
    table, lowest, highest = _ends(rows, dtype)
    is_seen = (highest <= largest) & (lowest >= -largest)  # not so, if either is NaN
    if is_seen.all():
        return
    column = int(np.argmin(is_seen))
    is_fine = np.abs(table[:, column].astype(np.float64)) <= largest[column]
    row = int(np.argmin(is_fine))
    where = f"row {first_row + row}" + (f", column {column}" if rows.ndim == 2 else "")
    raise SourceError(
        f"{where}: {table[row, column]} was not there when the scales were made, of values up to "
        f"{largest[column]}; the source has changed in between: start again when nobody changes it"
    )


def quantized(rows: NDArray[Any], dtype: str, scales: NDArray[np.float32]) -> NDArray[np.int8]:
    """The integers for some rows: rounded to nearest, and at most 127 either way.

    Args:
        rows: Some rows that have been seen when the scales were made; see `require_seen`.
        dtype: The name of their dtype.
        scales: One for each column.
    """
    values = widen(rows, dtype)
    wide = np.float64 if values.dtype in (np.float64, np.int64, np.int32) else np.float32
    divisors = np.where(scales == 0, 1, scales).astype(wide)
    quotients = values / (divisors if rows.ndim == 2 else divisors[0])
    # Values too small for a scale are as good as 0, and so are these quotients.
    quotients *= (scales != 0) if rows.ndim == 2 else bool(scales[0] != 0)
    np.rint(quotients, out=quotients)
    np.clip(quotients, -_LARGEST, _LARGEST, out=quotients)
    return np.asarray(quotients, np.int8)


def check_table(rows: RowSource, table: Table) -> DTypeName:
    """The dtype that rows will be stored as.

    Args:
        rows: The source of the table.
        table: The table.

    Raises:
        ValueError: An option is wrong, or options do not go together.
    """
    require_choice("repeated", table.repeated, ("error", "first", "last"))
    require_choice("quantize", table.quantize, (None, "column"))
    require_nan_policy(table.nan, rows.dtype)
    target = _target_dtype(rows, table)
    missing = fill_value(table)
    if missing is not None and rows.has_keys and table.quantize is None:
        fill_row(missing, 1, target, None)  # which says whether it can be stored
    return target


def _target_dtype(rows: RowSource, table: Table) -> DTypeName:
    if table.quantize is None:
        return dtype_name(rows.dtype if table.dtype is None else table.dtype)
    if table.dtype is not None and dtype_name(table.dtype) != "int8":
        raise ValueError(
            f"quantize={shown(table.quantize)} stores int8, not dtype={shown(table.dtype)}"
        )
    return "int8"


def fill_value(table: Table) -> float | None:
    """The number for rows that are missing; None if they are an error."""
    missing: object = table.missing
    if isinstance(missing, str) and missing == "error":
        return None
    number = as_number(missing)
    if number is None:
        raise ValueError(f"missing={shown(missing)}; choose 'error' or a number to put there")
    if table.quantize is not None and not math.isfinite(number):
        raise ValueError(f"missing={shown(missing)} cannot be quantized")
    return number


def fill_row(
    missing: float, num_columns: int, dtype: DTypeName, scales: NDArray[np.float32] | None
) -> NDArray[np.uint8]:
    """The bytes of a row that is missing.

    Raises:
        ValueError: The value cannot be stored.
    """
    row = np.full((1, num_columns), missing)
    if scales is not None:
        row = quantized(row, "float64", scales)
    else:
        try:
            row = convert(row, row.dtype.name, dtype, 0)
        except SourceError:
            raise ValueError(f"missing={shown(missing)} cannot be stored as {dtype}") from None
    return np.ascontiguousarray(row).reshape(-1).view(np.uint8)
