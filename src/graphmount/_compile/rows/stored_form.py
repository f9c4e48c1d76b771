"""How the rows of a table are stored: as which dtype, and with what where a row is missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from graphmount._compile.rows.quantization import quantized
from graphmount._sources.contract.nan import require_nan_policy
from graphmount._support.arguments import as_number, require_choice
from graphmount._support.conversion import DTypeName, convert, dtype_name
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._sources.contract.batches import RowSource
    from graphmount._sources.contract.tables import Table


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
