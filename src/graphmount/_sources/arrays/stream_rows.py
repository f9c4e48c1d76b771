"""Rows of features from a stream: an array on a disk, or a mounted `.gd` file.

Rows come in order, without keys, as they are stored.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from graphmount._sources.contract.batches import RowBatch, RowSource
from graphmount._sources.contract.claims import require_rows, rows_at_once
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._sources.arrays.array_stream import Stream


class StreamRows(RowSource):
    """Rows from a stream; a `RowSource`.

    Args:
        stream: The array, of one or two dimensions.
        name: What messages call the source; by default as the stream.
        dtype: The name of the dtype, where NumPy's is not the true one: "bfloat16".

    Raises:
        SourceError: The array does not hold numbers.
    """

    def __init__(
        self, stream: Stream, *, name: str | None = None, dtype: str | None = None
    ) -> None:
        if stream.dtype.kind not in "fiub" or stream.dtype.itemsize > 8:
            raise SourceError(f"{stream.name}: features must be numbers, not {stream.dtype}")
        require_rows(stream.name, stream.shape)
        super().__init__(name or stream.name, stream.size or stream.shape[0])
        self._stream = stream
        self.num_rows = stream.shape[0]
        self.is_vector = len(stream.shape) == 1
        self.num_columns = 1 if self.is_vector else stream.shape[1]
        self.dtype = dtype or stream.dtype.name

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        num_rows = self._stream.shape[0]
        row_bytes = self._stream.dtype.itemsize * math.prod(self._stream.shape[1:])
        if not self._stream.dtype.isnative:
            row_bytes *= 2  # they are there twice, while their bytes are swapped
        step = rows_at_once(memory, row_bytes)
        with self._stream.opened() as read:
            for first in range(0, num_rows, step):
                rows = read(step)
                yield RowBatch(rows=rows, done=(self.size or 0) * (first + len(rows)) // num_rows)
