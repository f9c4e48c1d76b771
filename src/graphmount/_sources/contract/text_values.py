"""Text values as numbers: each different text is a class, and classes are numbered in sorted order.

Which number a class has is known when all of them are, so a source of text is read twice: the
first pass collects the classes, `settle` numbers them, and the second pass gives the numbers. An
empty text is a missing value and no class.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import numpy as np

from graphmount import _core
from graphmount._sources.contract.batches import MOST_EXAMPLES, RowBatch, RowSource
from graphmount._sources.contract.file_stamps import require_unchanged
from graphmount._sources.contract.node_keys import take_keys
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes
from graphmount._support.text_columns import from_core, to_core
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from graphmount._sources.contract.tables import RowRequest
    from graphmount._support.text_columns import TextColumn

#: What to do about features that are text.
NUMBERS_ADVICE = (
    "only labels and splits of a dataset may be text: choose others with columns=, turn this one "
    "into numbers first, or name it with key= if it says which node a row belongs to"
)
#: What a class takes in a list of JSON besides its characters.
_LEAST_BYTES = 9


class TextEncoder:
    """Collects classes, and numbers them.

    Args:
        most_bytes: How many bytes the classes may take as JSON.
        takes_numbers: Whether text that looks like a number is a class as well, in files of text,
            which do not say what their values are.
        values: What messages call the values.

    Attributes:
        takes_numbers: See above.
        classes: The classes in the order of their numbers, once they are settled.
        num_values: How many values that are not missing the classes were collected from.
    """

    def __init__(self, *, most_bytes: int, takes_numbers: bool, values: str = "labels") -> None:
        self.takes_numbers = takes_numbers
        self.classes: list[str] | None = None
        self.num_values = 0
        self._most_bytes = most_bytes
        self._values = values
        self._map = _core.NameMap()
        self._numbers = np.empty(0, np.int64)

    def encode(
        self, batch: RowBatch, source: RowSource, request: RowRequest, first_row: int
    ) -> RowBatch:
        """A batch of numbers for one of text; they mean nothing before the classes are settled.

        Args:
            batch: The values, and which node each belongs to.
            source: Where they are from, and where rows that are left out are counted.
            request: What to do with values that are missing.
            first_row: Where the values stand in the source.

        Raises:
            SourceError: A value is missing, or a number; or there are too many classes.
        """
        name = source.values_name or source.name
        text, keys, is_number = batch.rows, batch.keys, source.is_number
        absent = np.diff(text.offsets) == 0
        if absent.any() and isinstance(request.missing, str):
            messages = [
                f"{name}, row {first_row + place}: there is no label"
                for place in np.flatnonzero(absent)[:MOST_EXAMPLES].tolist()
            ]
            if request.on_error == "raise":
                raise SourceError(
                    f"{messages[0]}; fill it in, or pass Table(source=…, missing=-1) to store -1 "
                    "for nodes without one"
                )
            source.skipped.add(int(absent.sum()), messages)
            keep = np.flatnonzero(~absent)
            text = take_keys(text, keep)
            keys = None if keys is None else take_keys(keys, keep)
        if self.classes is not None:
            codes = self._numbers[self._found(text, name, first_row)]
            return RowBatch(rows=codes, keys=keys, done=batch.done)
        self.num_values += len(absent) - int(absent.sum())
        before = len(self._map)
        column = to_core(text)
        codes = self._map.add(column, column)[0]
        if len(self._map) * _LEAST_BYTES > self._most_bytes:
            raise self._too_many(name)
        if is_number is not None and not self.takes_numbers and len(self._map) > before:
            for number, value in enumerate(self._texts()[before:], before):
                if is_number(value):
                    row = first_row + int(np.argmax(codes == number))
                    raise mixed_labels(name, row, value, is_number=True)
        return RowBatch(rows=codes, keys=keys, done=batch.done)

    def settle(self, source: RowSource, *, memory: int, missing: float | str) -> None:
        """Reads a source once, and numbers the classes in it: its next batches have these numbers.

        Args:
            source: The text.
            memory: How much its batches may take.
            missing: The number for values that are missing; "error" if there is none.

        Raises:
            SourceError: A class is no text in UTF-8, or they take too many bytes.
            ValueError: `missing` is no whole number.
        """
        for _ in source.batches(memory=memory):
            pass
        require_unchanged(source)
        source.skipped.clear()  # the next pass leaves the same ones out again
        name = source.name
        texts = self._texts()
        order = sorted((number for number, text in enumerate(texts) if text), key=texts.__getitem__)
        try:
            classes = [texts[number].decode() for number in order]
        except UnicodeDecodeError as error:
            raise SourceError(
                f"{name}: the label {bytes(error.object)[:80]!r} is no text in UTF-8; save the "
                "source as UTF-8"
            ) from None
        if len(json.dumps(classes, indent=4, ensure_ascii=False).encode()) > self._most_bytes:
            raise self._too_many(name)
        self._numbers = np.full(len(texts), _whole(missing), np.int64)
        self._numbers[order] = np.arange(len(order))
        self.classes = classes

    def _found(self, text: TextColumn, name: str, first_row: int) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self._map.find(to_core(text))
        if len(found) and found.min() < 0:
            raise SourceError(
                f"{name}, row {first_row + int(np.argmin(found))}: the label was not there when the"
                " classes were collected; start again when nobody changes the source"
            )
        return found

    def _texts(self) -> list[bytes]:
        column: TextColumn = from_core(self._map.keys())
        data, ends = column.data.tobytes(), column.offsets.tolist()
        return [data[begin:end] for begin, end in itertools.pairwise(ends)]

    def _too_many(self, name: str) -> SourceError:
        return SourceError(
            f"{name} has {len(self._map):,} or more different {self._values}, and their names may "
            f"take {format_bytes(self._most_bytes)}; if these are names of nodes, take another "
            "column; else number them, and pass the numbers"
        )


class EncodedRows(RowSource):
    """A source of text as one of numbers.

    Args:
        source: The text.
        encoder: Numbers its classes.
        request: What to do with values that are missing.
    """

    def __init__(self, source: RowSource, encoder: TextEncoder, request: RowRequest) -> None:
        self._be_like(source)
        self._source, self._encoder, self._request = source, encoder, request
        self.has_text_values = True

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        self._source.skipped = self.skipped
        first_row = 0
        for batch in self._source.batches(memory=memory):
            yield self._encoder.encode(batch, self, self._request, first_row)
            first_row += len(batch.rows)


def mixed_labels(name: str, row: int, value: bytes, *, is_number: bool) -> SourceError:
    """What to raise where some labels are text and others are numbers.

    Args:
        name: What messages call the source.
        row: The first row that is unlike those before it.
        value: Its value.
        is_number: Whether that is a number.
    """
    text = shown(value[:80].decode(errors="replace"))
    what = "a number, and labels before it are text" if is_number else "text, and labels before it"
    return SourceError(
        f"{name}, row {row}: {text} is {what}{'' if is_number else ' are numbers'}; mend the row, "
        "or pass Table(source=…, dtype='str') to take all labels as text"
    )


def _whole(missing: float | str) -> int:
    if isinstance(missing, str):
        return -1  # of no row: there is none, or it has been refused
    if missing != missing or int(missing) != missing:  # noqa: PLR0124  (NaN)
        raise ValueError(
            f"missing={shown(missing)} is no number of a class; pass a whole number, such as -1"
        )
    return int(missing)
