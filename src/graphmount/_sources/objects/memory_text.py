"""Labels that are text in memory: lists, and arrays of strings or objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.contract.batches import RowBatch, RowSource
from graphmount._sources.contract.node_keys import keys_of_rows, slice_keys
from graphmount._support.arguments import as_count, is_text
from graphmount._support.shown import shown
from graphmount._support.text_columns import TextColumn, from_strings
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmount._sources.contract.tables import RowRequest

_ROWS_AT_ONCE = 1 << 18


class MemoryText(RowSource):
    """A `RowSource` over text.

    Args:
        text: The values.
        request: Which node each belongs to, and what to do with missing ones.

    Raises:
        ValueError: There are not as many keys as values.
    """

    def __init__(self, text: TextColumn, request: RowRequest) -> None:
        super().__init__("a list of text", len(text))
        self._text = text
        self.has_text_values = self.is_vector = True
        self.num_columns = 1
        self.dtype = "int64"
        if request.key is not None and np.ndim(request.key) == 0:
            raise ValueError(
                f"key={shown(request.key)} is a column, but the source is a vector; pass an array"
            )
        self._keys = None if request.key is None else keys_of_rows(request.key, len(text))
        self.num_rows = len(text) if request.on_error == "raise" else None
        self.has_keys = self._keys is not None
        self.has_text_keys = isinstance(self._keys, TextColumn)

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        del memory  # all of it is there already
        for first in range(0, len(self._text), _ROWS_AT_ONCE):
            last = min(first + _ROWS_AT_ONCE, len(self._text))
            text = slice_keys(self._text, first, last)
            keys = None if self._keys is None else slice_keys(self._keys, first, last)
            yield RowBatch(rows=text, keys=keys, done=last)


def find_text(source: Any, columns: Sequence[int] | Sequence[str] | None) -> TextColumn | None:  # noqa: ANN401
    """The values of a list or an array that has text; None if there is none in it.

    Args:
        source: Any object.
        columns: The column to take of a matrix.

    Raises:
        SourceError: Some values are text, and one is something else; the message names its row.
    """
    if isinstance(source, np.ndarray):
        if source.dtype.kind not in "UTO":
            return None
        array: Any = source
        if array.ndim == 2:
            chosen = range(array.shape[1]) if columns is None else columns
            picked = [chosen] if isinstance(chosen, int | str) else list(chosen)
            if len(picked) != 1:
                return None
            array = array[:, as_count(picked[0], "columns", most=array.shape[1] - 1)]
        elif array.ndim != 1:
            return None
        values = array.tolist()
    elif isinstance(source, list | tuple):
        values = list(source)
    else:
        return None
    if not any(isinstance(value, str) for value in values):
        return None
    try:
        return from_strings(["" if _is_missing(value) else value for value in values])
    except (TypeError, UnicodeEncodeError):
        _refuse(values)
        raise


def _is_missing(value: object) -> bool:
    """None, and NaN, which pandas puts where a text is missing."""
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124


def _refuse(values: list[Any]) -> None:
    """Raises for the first value that is unlike others, or no valid text."""
    is_first_text = isinstance(next(value for value in values if not _is_missing(value)), str)
    for row, value in enumerate(values):
        if _is_missing(value):
            continue
        if isinstance(value, str) != is_first_text or not isinstance(value, str | int | float):
            raise SourceError(
                f"labels, row {row}: {shown(value)} is {type(value).__name__}, and labels before it"
                f" are {'text' if is_first_text else 'not'}; labels are all text or all numbers: "
                "mend the row, or make text of all: [str(label) for label in labels]"
            )
        if isinstance(value, str) and not is_text(value):
            raise SourceError(f"labels, row {row}: {shown(value)} is not valid text; mend the row")
