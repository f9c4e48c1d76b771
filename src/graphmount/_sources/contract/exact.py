"""Values of sources as batches have them: casts that would change a number are errors.

NumPy silently wraps integers and dates around, and rounds integers that become floats. Every
cast of a source's values goes through here, or is marked as one that cannot change anything; a test
looks for others. Ids of edges are int64, weights float32, times int64; what does not fit is a
`SourceError` that names the edge. The compiler checks whether ids and weights make sense (for
example, that none is negative).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

#: What is multiplied to become seconds, and may then wrap around.
_COARSE_UNITS = ("Y", "M", "W", "D", "h", "m", "s")


def changed_by_cast(values: NDArray[Any], dtype: DTypeLike) -> NDArray[np.bool_]:
    """Which values would become other ones, if they were cast to a dtype.

    Floats that become narrower ones are rounded, which is what they are for; only those that would
    become infinite count. Integers and dates must stay what they are; dates of a finer unit are
    rounded down.
    """
    target = np.dtype(dtype)
    with np.errstate(all="ignore"):
        there = values.astype(target)  # cast: is compared
        if values.dtype.kind == "f" and target.kind == "f":
            return np.asarray(np.isinf(there) & np.isfinite(values))
        if values.dtype.kind == "M":
            if np.datetime_data(values.dtype)[0] not in _COARSE_UNITS:
                return np.zeros(values.shape, np.bool_)  # divided, so none is too large
            return np.asarray(there.astype(values.dtype) != values)  # cast: is compared
        back = there.astype(values.dtype)  # cast: is compared
        is_other = back != values
        if values.dtype.kind in "iu" and target.kind in "iu":
            is_other |= (there < 0) != (values < 0)  # wrapped around, and back again
        elif values.dtype.kind in "iu":
            # The largest float that comes back as the largest integer stands for the next one.
            is_other |= there >= float(np.iinfo(values.dtype).max)
        return np.asarray(is_other)


def as_int64(values: NDArray[Any], what: str, first: int) -> NDArray[np.int64]:
    """Integers as int64, contiguous.

    Args:
        values: Integers of any width.
        what: What messages call one of them, with its number behind: "edges in memory, edge".
        first: The number of the first of them.

    Raises:
        SourceError: One does not fit.
    """
    if values.dtype == np.uint64 and values.size:
        place = int(np.argmax(values))
        if int(values[place]) >= 2**63:
            raise SourceError(f"{what} {first + place}: {values[place]} is too large for int64")
    return np.ascontiguousarray(values, np.int64)


def as_seconds(values: NDArray[Any], what: str, first: int) -> NDArray[np.int64]:
    """Times of NumPy, none of which is missing, as seconds since 1970, rounded down.

    Args:
        values: Of a dtype datetime64.
        what: What messages call one of them, with its number behind.
        first: The number of the first of them.

    Raises:
        SourceError: One is too far from 1970.
    """
    unit = np.datetime_data(values.dtype)[0]
    if unit == "generic":
        raise SourceError(
            f"{what} {first}: the times are datetime64 without a unit, so nobody knows what they "
            "count; pass array.astype('datetime64[s]')"
        )
    bad = np.flatnonzero(changed_by_cast(values, "datetime64[s]"))
    if len(bad):
        place = int(bad[0])
        raise SourceError(
            f"{what} {first + place}: {values[place].astype(np.int64)} of the unit {unit!r} since "
            "1970 is too far away for a time in seconds"
        )
    seconds = values.astype("datetime64[s]")  # cast: has been checked
    return np.ascontiguousarray(seconds.view(np.int64))


def counted(number: int, thing: str) -> str:
    """So many things, for messages."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def require_ids(dtype: np.dtype[Any], name: str) -> None:
    """Raises unless ids can be of this dtype."""
    if dtype.kind not in "iu":
        raise SourceError(f"{name}: node ids must be integers, not {dtype}")


def require_weights(dtype: np.dtype[Any], name: str) -> None:
    """Raises unless weights can be of this dtype."""
    if dtype.kind not in "fiu":
        raise SourceError(f"{name} must be numbers, not {dtype}")


def require_timestamps(dtype: np.dtype[Any], name: str) -> None:
    """Raises unless timestamps can be of this dtype."""
    if dtype.kind not in "iuM":
        raise SourceError(f"{name} must be integers or datetime64, not {dtype}")


def as_node_ids(values: NDArray[Any], name: str, first: int) -> NDArray[np.int64]:
    """Ids of a column, contiguous; `first` is the edge the values begin with, for messages."""
    return as_int64(values, f"{name}, edge", first)


def as_weights(values: NDArray[Any], name: str, first: int) -> NDArray[np.float32]:
    """Weights of a column; `first` is the edge the values begin with, for messages."""
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(values, np.float32)
    # Only doubles and integers can have values that float32 does not have, and few of them do.
    infinite = np.flatnonzero(np.isinf(narrow))
    bad = infinite[np.isfinite(values[infinite])]
    if len(bad):
        edge = int(bad[0])
        raise SourceError(
            f"{name}, edge {first + edge}: weight {values[edge]} is too large for float32"
        )
    return narrow


def as_timestamps(values: NDArray[Any], name: str, first: int) -> NDArray[np.int64]:
    """Times of a column: integers as they are, datetime64 in seconds since 1970."""
    if values.dtype.kind == "M":
        missing = np.flatnonzero(np.isnat(values))
        if len(missing):
            raise SourceError(f"{name}, edge {first + int(missing[0])}: the timestamp is missing")
        return as_seconds(values, f"{name}, edge", first)
    return as_int64(values, f"{name}, edge", first)
