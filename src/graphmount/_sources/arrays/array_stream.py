"""Arrays that are read from their first row to their last, so many rows at a time.

`ArrayStream` reads an array of one or two dimensions from a disk, in C or Fortran order and any
byte order; `MemoryStream` has one in memory. Of the first kind, only the rows asked for are ever in
memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from graphmount._sources.arrays.stored_bytes import FileBytes, MemberBytes
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount._sources.arrays.stored_bytes import StoredBytes

#: Each column of a compressed array in Fortran order unpacks all that comes before it again.
_MOST_UNPACKED_COLUMNS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class ArrayStream:
    """An array on a disk.

    Attributes:
        stored: Its bytes, without any header.
        shape: Its shape, of one or two dimensions.
        dtype: Its dtype, of any byte order.
        is_fortran: Whether it lies column by column.
    """

    stored: StoredBytes
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool = False

    @property
    def name(self) -> str:
        """The file, and the member if it is an archive."""
        return self.stored.name

    @property
    def size(self) -> int:
        """The bytes it takes on the disk."""
        return self.stored.size

    @property
    def T(self) -> ArrayStream:  # noqa: N802  (as arrays call it)
        """The transposed array, over the same bytes."""
        return replace(self, shape=self.shape[::-1], is_fortran=not self.is_fortran)

    def open(self) -> ArrayReader:
        """A reader that begins at the first row."""
        return ArrayReader(self)


def file_stream(
    path: str,
    offset: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    *,
    name: str | None = None,
    is_fortran: bool = False,
    mounted: _core.Graph | _core.FeatureMatrix | None = None,
) -> ArrayStream:
    """An array that lies in a file as it is.

    Args:
        path: The file.
        offset: Where it begins.
        shape: Its shape, of one or two dimensions.
        dtype: Its dtype.
        name: What messages call it; as the file if None.
        is_fortran: Whether it lies column by column.
        mounted: The core's handle on the file, if it is mounted.
    """
    size = math.prod(shape) * dtype.itemsize
    stored = FileBytes(path=path, name=name or path, offset=offset, size=size, mounted=mounted)
    return ArrayStream(stored=stored, shape=shape, dtype=dtype, is_fortran=is_fortran)


class ArrayReader:
    """Reads an array from a disk once."""

    def __init__(self, stream: ArrayStream) -> None:
        self._stream = stream
        self._left = stream.shape[0]
        starts = [0]
        if stream.is_fortran and len(stream.shape) == 2 and stream.shape[0] > 0:
            num_rows, num_columns = stream.shape
            if isinstance(stream.stored, MemberBytes) and num_columns > _MOST_UNPACKED_COLUMNS:
                raise SourceError(
                    f"{stream.name} is compressed and lies in Fortran order, column by column, so "
                    "its rows cannot be read one after the other; save it again with "
                    "numpy.ascontiguousarray, or without compression"
                )
            starts = [column * num_rows * stream.dtype.itemsize for column in range(num_columns)]
        self._num_lanes = len(starts)
        self._bytes = stream.stored.open(starts)

    def read(self, num_rows: int) -> NDArray[Any]:
        """The next rows, in native byte order; as many as are left if these are fewer."""
        count = min(num_rows, self._left)
        self._left -= count
        stream = self._stream
        if stream.is_fortran and len(stream.shape) == 2:
            lanes = np.empty((self._num_lanes, count), stream.dtype)
            for lane, values in enumerate(lanes):
                self._fill(lane, values)
            rows = lanes.T
        else:
            rows = np.empty((count, *stream.shape[1:]), stream.dtype)
            self._fill(0, rows.reshape(-1))
        return rows.astype(stream.dtype.newbyteorder("="), copy=False)  # cast: of bytes alone

    def _fill(self, lane: int, values: NDArray[Any]) -> None:
        if values.size:
            # As bytes: a memoryview does not know all of NumPy's dtypes.
            self._bytes.readinto(lane, values.view(np.uint8).data)

    def close(self) -> None:
        """Lets go of what is open."""
        self._bytes.close()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MemoryStream:
    """An array in memory; its rows are views of it where the byte order is the machine's.

    Attributes:
        array: The array, of one or two dimensions.
        name: What messages call it.
    """

    array: NDArray[Any]
    name: str

    @property
    def size(self) -> int:
        """0: nothing is read from a disk."""
        return 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the array."""
        return self.array.dtype

    def open(self) -> MemoryReader:
        """A reader that begins at the first row."""
        return MemoryReader(self.array)


class MemoryReader:
    """Reads an array in memory once."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self._place = 0

    def read(self, num_rows: int) -> NDArray[Any]:
        """The next rows, in native byte order; as many as are left if these are fewer."""
        rows = self._array[self._place : self._place + num_rows]
        self._place += len(rows)
        return rows.astype(rows.dtype.newbyteorder("="), copy=False)  # cast: of bytes alone

    def close(self) -> None:
        """Nothing is open."""


#: An array to be read row by row.
Stream: TypeAlias = ArrayStream | MemoryStream
StreamReader: TypeAlias = ArrayReader | MemoryReader
