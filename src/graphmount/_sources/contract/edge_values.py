"""Values of edges as batches have them: int64 ids, float32 weights, int64 times.

What does not fit is a `SourceError` that names the edge; nothing is rounded or wrapped around.
Whether ids and weights make sense (none is negative, say) is the compiler's to check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.contract.exact import as_int64, as_seconds
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    # Only doubles and integers have what float32 has not, and few of them.
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
