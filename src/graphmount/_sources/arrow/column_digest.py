"""A digest of the values of a column, by which two passes over a table are compared.

It does not depend on how the column is cut into batches, nor on what lies in memory where a value
is missing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.arrow.columns import as_numpy, plain
from graphmount._sources.arrow.tables import pyarrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray


class ColumnDigest:
    """What is known of the values so far: those that are missing, their lengths, and the rest."""

    def __init__(self) -> None:
        self._nulls = hashlib.blake2b(digest_size=16)
        self._lengths = hashlib.blake2b(digest_size=16)
        self._values = hashlib.blake2b(digest_size=16)
        self._inner: list[ColumnDigest] = []
        self._count = 0

    def add(self, column: Any) -> None:  # noqa: ANN401
        """Adds the next values, a column of Arrow."""
        types, compute = pyarrow("pyarrow.types"), pyarrow("pyarrow.compute")
        column = plain(column)
        if column.null_count:
            _add(self._nulls, np.flatnonzero(as_numpy(column.is_null())) + self._count)
        self._count += len(column)
        column = column.drop_null() if column.null_count else column
        kind = column.type
        if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            lengths = as_numpy(compute.list_value_length(column))
            _add(self._lengths, lengths.astype(np.int64))  # cast: is wider
            self._add_inner(0, column.flatten())
        elif types.is_struct(kind):
            for place, field in enumerate(column.flatten()):
                self._add_inner(place, field)
        elif types.is_primitive(kind) and not types.is_temporal(kind):
            _add(self._values, as_numpy(column))
        elif types.is_temporal(kind):
            number = pyarrow().int32() if kind.bit_width == 32 else pyarrow().int64()
            _add(self._values, as_numpy(column.cast(number)))
        elif not types.is_null(kind):  # text, bytes and decimals
            self._add_bytes(column)

    def _add_bytes(self, column: Any) -> None:  # noqa: ANN401
        arrow = pyarrow()
        if pyarrow("pyarrow.types").is_decimal(column.type):
            column = column.cast(arrow.large_string())
        column = column.cast(arrow.large_binary())
        _, ends, data = column.buffers()
        if len(column):
            first = column.offset
            offsets = np.frombuffer(ends, np.int64)[first : first + len(column) + 1]
            _add(self._lengths, np.diff(offsets))
            if data is not None:
                _add(self._values, np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]])

    def _add_inner(self, place: int, column: Any) -> None:  # noqa: ANN401
        if place == len(self._inner):
            self._inner.append(ColumnDigest())
        self._inner[place].add(column)

    def hexdigest(self) -> str:
        """The digest of all values that were added."""
        parts = [self._nulls, self._lengths, self._values]
        own = "".join(part.hexdigest() for part in parts)
        return f"{self._count}-{own}" + "".join(inner.hexdigest() for inner in self._inner)


class PassDigests:
    """What the columns of a table were when they were first read."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}

    def compare(
        self, columns: list[int], batches: Iterable[Any], changed: Callable[[int], Exception]
    ) -> Iterator[Any]:
        """The batches of a pass.

        Args:
            columns: The numbers of the columns that batches have.
            batches: The record batches.
            changed: The error for a column that was another one before; raised at the end.
        """
        digests = {column: ColumnDigest() for column in columns}
        for batch in batches:
            for place, digest in enumerate(digests.values()):
                digest.add(batch.column(place))
            yield batch
        for column, digest in digests.items():
            found = digest.hexdigest()
            if self._found.setdefault(column, found) != found:
                raise changed(column)


def _add(digest: Any, values: NDArray[Any]) -> None:  # noqa: ANN401
    digest.update(np.ascontiguousarray(values).view(np.uint8))
