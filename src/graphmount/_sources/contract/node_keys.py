"""External ids of nodes as users give them, as columns the core takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._mount.node_ids import refuse_marked
from graphmount._support.arguments import as_ids, as_list, as_plain, is_text
from graphmount._support.text_columns import TextColumn, from_strings
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._support.text_columns import Keys

_KEYS_AT_ONCE = 1 << 18


def as_keys(ids: ArrayLike | Sequence[str], name: str) -> Keys:
    """`ids`, which are all integers or all strings, as a column.

    Raises:
        SourceError: One cannot be an id; the message names it.
        TypeError: They are of both kinds, or of neither.
        ValueError: They are marked as internal ids of a dataset.
    """
    if isinstance(ids, TextColumn):
        return ids
    refuse_marked(ids, name, "it", advice="pass ds.to_external(ids)")
    if hasattr(ids, "__array__"):  # also tensors, whose items are no numbers but tensors again
        ids = as_plain(ids, name)
    if isinstance(ids, np.ndarray) and ids.dtype.kind not in "OUT":
        return as_ids(ids, name, error=SourceError)
    # Not by way of NumPy's strings, which are all as long as the longest.
    values = as_list(ids, name, "ids")
    if not any(isinstance(value, str) for value in values):
        return as_ids(values, name, error=SourceError)
    try:
        return from_strings(values)
    except (TypeError, UnicodeEncodeError):
        _refuse_keys(values, name)
        raise


def keys_of_rows(key: ArrayLike | Sequence[str], num_rows: int) -> Keys:
    """The keys of rows, one for each.

    Raises:
        ValueError: There are not as many.
    """
    keys = as_keys(key, "key")
    if len(keys) != num_rows:
        raise ValueError(f"there are {len(keys)} keys for {num_rows} rows")
    return keys


def _refuse_keys(values: list[Any], name: str) -> None:
    """Raises for the first value that is no text."""
    for place, value in enumerate(values):
        if not isinstance(value, str):
            raise TypeError(f"{name}[{place}] is {value!r}; ids are all integers or all strings")
        if not is_text(value):
            raise SourceError(f"{name}[{place}] is {value!r}, which is not valid text")


def take_keys(keys: Keys, places: NDArray[Any]) -> Keys:
    """The keys at these places, in this order."""
    # In pieces: each place, and each byte of text, takes several more while it is being moved.
    pieces = [slice(at, at + _KEYS_AT_ONCE) for at in range(0, len(places), _KEYS_AT_ONCE)]
    if not isinstance(keys, TextColumn):
        taken = np.empty(len(places), keys.dtype)
        for piece in pieces:
            taken[piece] = keys[places[piece]]
        return taken
    offsets = np.zeros(len(places) + 1, dtype=np.int64)
    for piece in pieces:
        begins = places[piece].astype(np.int64)  # cast: places are numbers of keys
        offsets[1:][piece] = keys.offsets[begins + 1] - keys.offsets[begins]
    np.cumsum(offsets, out=offsets)
    data = np.empty(offsets[-1], dtype=np.uint8)
    for piece in pieces:
        ends = offsets[piece.start : piece.stop + 1]
        # For each byte of the result, where it comes from.
        shifts = np.repeat(keys.offsets[places[piece]] - ends[:-1], np.diff(ends))
        data[ends[0] : ends[-1]] = keys.data[shifts + np.arange(ends[0], ends[-1])]
    return TextColumn(offsets=offsets, data=data)


def slice_keys(keys: Keys, begin: int, end: int) -> Keys:
    """The keys from one place on, up to another."""
    if not isinstance(keys, TextColumn):
        return keys[begin:end]
    offsets = keys.offsets[begin : end + 1]
    return TextColumn(
        offsets=offsets - offsets[0], data=keys.data[int(offsets[0]) : int(offsets[-1])]
    )
