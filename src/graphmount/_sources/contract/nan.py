"""What becomes of NaN in features: it stays, is refused, or is replaced by a number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from graphmount._support.arguments import as_number
from graphmount._support.conversion import bfloat16_bits
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What `nan=` takes.
NanPolicy: TypeAlias = "Literal['keep', 'error'] | float"


def require_nan_policy(nan: object, dtype: str) -> None:
    """Raises unless `nan` is a policy for values of this dtype."""
    if isinstance(nan, str) and nan in ("keep", "error"):
        return
    number = as_number(nan)
    if number is None or not math.isfinite(number):
        raise ValueError(
            f"nan={shown(nan)}; choose 'keep', 'error' or a finite number to put there"
        )
    if dtype.startswith("float"):
        with np.errstate(over="ignore"):
            if not np.isfinite(np.array(number).astype(dtype)):  # cast: is only looked at
                raise ValueError(f"nan={shown(nan)} is out of the range of the source, {dtype}")


def apply_nan_policy(
    rows: NDArray[Any], dtype: str, nan: NanPolicy, first_row: int
) -> NDArray[Any]:
    """`rows` of dtype `dtype` as the policy wants them; `rows` itself where nothing changes.

    Args:
        rows: Some rows of a matrix; bfloat16 as its bits.
        dtype: The name of their dtype.
        nan: The policy.
        first_row: Where the rows stand in the source, for messages.

    Raises:
        SourceError: There is a NaN, and that is an error.
    """
    if nan == "keep" or not dtype.startswith(("float", "bfloat")):
        return rows
    is_nan = (rows & 0x7FFF) > 0x7F80 if dtype == "bfloat16" else np.isnan(rows)
    if not is_nan.any():
        return rows
    if nan == "error":
        place = np.argwhere(is_nan)[0]
        column = f", column {place[1]}" if rows.ndim == 2 else ""
        raise SourceError(
            f"row {first_row + int(place[0])}{column}: NaN; pass nan= with a number to put there"
        )
    number = bfloat16_bits(np.float32(nan))[()] if dtype == "bfloat16" else nan
    return np.where(is_nan, np.array(number, rows.dtype), rows)
