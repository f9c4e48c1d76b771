"""Converting rows to the dtype they are stored in: a value that is out of its range is an error.

bfloat16, which NumPy does not know, is carried as uint16 arrays of its bits under its own name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The element types of `.gd` files.
DTypeName = Literal[
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool"
]

_NAMES = get_args(DTypeName)


def dtype_name(dtype: object) -> DTypeName:
    """The name of a storable dtype given as a string, NumPy dtype or torch dtype."""
    if isinstance(dtype, str):
        name = dtype
    else:
        name = str(dtype).removeprefix("torch.")
        if name not in _NAMES:
            try:
                name = np.dtype(cast("Any", dtype)).name
            except TypeError:
                name = str(dtype)
    if name not in _NAMES:
        raise ValueError(f"dtype {shown(name)} cannot be stored; choose one of {', '.join(_NAMES)}")
    return cast("DTypeName", name)


def item_bytes(name: str) -> int:
    """The size of one value of a dtype."""
    return np.dtype("uint16" if name == "bfloat16" else name).itemsize


def convert(rows: NDArray[Any], source: str, target: DTypeName, first_row: int) -> NDArray[Any]:
    """`rows` of dtype `source` as dtype `target`.

    Args:
        rows: Some rows of a matrix.
        source: The name of their dtype.
        target: The name of the dtype to store.
        first_row: Where the rows stand in the matrix, for messages.

    Raises:
        SourceError: A value is out of range, or not a whole number where one is needed.
    """
    if source == target:
        return rows
    rows = widen(rows, source)
    if target == "bool":
        _require((rows == 0) | (rows == 1), rows, target, first_row)
        return rows.astype(np.bool_)
    if target.startswith(("int", "uint")):
        _require(_fits_integer(rows, np.dtype(target)), rows, target, first_row)
        return rows.astype(target)
    with np.errstate(over="ignore"):
        floats = rows.astype(np.float32 if target == "bfloat16" else target)
    bits = bfloat16_bits(floats) if target == "bfloat16" else None
    is_finite = np.isfinite(floats) if bits is None else (bits & 0x7F80) != 0x7F80
    if rows.dtype.kind == "f":  # what was infinite or NaN before may stay so
        is_finite |= ~np.isfinite(rows)
    _require(is_finite, rows, target, first_row)
    return floats if bits is None else bits


def widen(rows: NDArray[Any], source: str) -> NDArray[Any]:
    """`rows` themselves, or what the bits of bfloat16 mean, as float32."""
    if source != "bfloat16":
        return rows
    return (rows.astype(np.uint32) << 16).view(np.float32)


def _fits_integer(rows: NDArray[Any], target: np.dtype[Any]) -> NDArray[np.bool_]:
    limits = np.iinfo(target)
    if rows.dtype.kind == "f":
        if rows.dtype.itemsize < 8:  # a float16 cannot hold the limits
            rows = rows.astype(np.float64)
        # The upper limit plus one is a power of two, so it is exact as a float; the limit is not.
        in_range = (rows >= float(limits.min)) & (rows < float(limits.max + 1))
        return cast("NDArray[np.bool_]", in_range & (np.floor(rows) == rows))
    if rows.dtype.kind == "b":
        return np.ones(rows.shape, np.bool_)
    low, high = np.iinfo(rows.dtype).min, np.iinfo(rows.dtype).max
    fits = np.ones(rows.shape, np.bool_)
    if low < limits.min:
        fits &= rows >= limits.min
    if high > limits.max:
        fits &= rows <= limits.max
    return fits


def bfloat16_bits(floats: NDArray[Any] | np.float32) -> NDArray[np.uint16]:
    """The bits of numbers rounded to nearest, ties to even; NaN stays NaN."""
    bits = np.ascontiguousarray(floats, np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    quiet_nan = ((bits >> 16) | 0x40).astype(np.uint16)
    return np.where(np.isnan(floats), quiet_nan, rounded)


def _require(fine: NDArray[Any], rows: NDArray[Any], target: str, first_row: int) -> None:
    if fine.all():
        return
    place = np.argwhere(~fine)[0]
    where = f"row {first_row + int(place[0])}"
    if rows.ndim == 2:
        where += f", column {int(place[1])}"
    raise SourceError(f"{where}: {rows[tuple(place)]!s} cannot be stored as {target}")
