"""A summary of each column of a feature file, from all rows or from random ones of a large file.

The same file gives the same summary: the rows are drawn with a fixed seed. It takes little memory,
however large the file is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: At most so many rows are read, and at most so many bytes of them, as 64-bit numbers.
_MOST_ROWS = 20_000
_MOST_BYTES = 64 << 20
#: Of wider tables, the first columns are summed up one by one.
MOST_COLUMNS = 24


@dataclass(frozen=True, kw_only=True)
class Column:
    """The values of one column, or of all columns together.

    Attributes:
        name: What to call it.
        values: The finite values of the rows that were read.
        num_nan: How many of the others are NaN.
        num_infinite: How many are infinite.
        zero_share: Which share of all values is zero.
    """

    name: str
    values: NDArray[np.float64]
    num_nan: int
    num_infinite: int
    zero_share: float


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """What was found in a feature file.

    Attributes:
        num_rows: Rows of the file.
        num_read: Rows that were read.
        num_columns: Columns of the file.
        columns: All values first, if there are several columns; then the first columns.
    """

    num_rows: int
    num_read: int
    num_columns: int
    columns: list[Column]


def summary_of(path: str, names: Sequence[str] = ()) -> ColumnSummary:
    """Reads rows of a feature file and sums them up.

    Args:
        path: The `.gd` file.
        names: What its columns are called, if anybody knows.
    """
    store = gm.FeatureStore(path)
    num_rows = store.shape[0]
    num_columns = store.shape[1] if len(store.shape) > 1 else 1
    most = max(1, min(_MOST_ROWS, _MOST_BYTES // (8 * max(1, num_columns))))
    if num_rows <= most:
        rows = np.arange(num_rows)
    else:
        # Drawn with repetition, since a permutation of all rows might not fit into memory.
        rows = np.unique(np.random.default_rng(0).integers(0, num_rows, most))
    values = store.gather(rows, dtype="float64").reshape(len(rows), num_columns)
    if len(names) != num_columns:
        names = [f"column {n}" for n in range(num_columns)] if num_columns > 1 else ["values"]
    columns = [
        _column(names[number], values[:, number])
        for number in range(min(num_columns, MOST_COLUMNS))
    ]
    if num_columns > 1:
        columns.insert(0, _column("all columns", values.reshape(-1)))
    return ColumnSummary(
        num_rows=num_rows, num_read=len(rows), num_columns=num_columns, columns=columns
    )


def _column(name: str, values: NDArray[np.float64]) -> Column:
    is_nan = np.isnan(values)
    is_finite = np.isfinite(values)
    return Column(
        name=name,
        values=values[is_finite],
        num_nan=int(is_nan.sum()),
        num_infinite=int((~is_finite & ~is_nan).sum()),
        zero_share=float((values == 0).mean()) if len(values) else 0.0,
    )
