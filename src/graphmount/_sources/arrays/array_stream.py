"""Arrays that are read from their first row to their last, so many rows at a time.

`ArrayStream` reads an array of one or two dimensions from a disk, in C or Fortran order and any
byte order; `MemoryStream` has one in memory. Of the first kind, only the rows asked for are ever in
memory.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from graphmount._sources.arrays.stored_bytes import FileBytes, MemberBytes
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount._sources.arrays.stored_bytes import StoredBytes

#: Each column of a compressed array in Fortran order unpacks all that comes before it again.
_MOST_UNPACKED_COLUMNS = 16

#: Gives the next rows of an array, so many of them.
ReadRows: TypeAlias = "Callable[[int], NDArray[Any]]"


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

    @contextmanager
    def opened(self) -> Iterator[ReadRows]:
        """What gives the next rows, in native byte order, or as many of them as are left."""
        starts, left = [0], self.shape[0]
        in_lanes = self.is_fortran and len(self.shape) == 2
        if in_lanes and left > 0:
            num_columns = self.shape[1]
            if isinstance(self.stored, MemberBytes) and num_columns > _MOST_UNPACKED_COLUMNS:
                raise SourceError(
                    f"{self.name} is compressed and lies in Fortran order, column by column, so "
                    "its rows cannot be read one after the other; save it again with "
                    "numpy.ascontiguousarray, or without compression"
                )
            starts = [column * left * self.dtype.itemsize for column in range(num_columns)]
        with self.stored.opened(starts) as fill:

            def read(num_rows: int) -> NDArray[Any]:
                nonlocal left
                count = min(num_rows, left)
                left -= count
                if in_lanes:
                    rows = np.empty((len(starts), count), self.dtype).T
                else:
                    rows = np.empty((count, *self.shape[1:]), self.dtype)
                for lane, values in enumerate(rows.T if in_lanes else [rows.reshape(-1)]):
                    if values.size:  # as bytes: a memoryview does not know all of NumPy's dtypes
                        fill(lane, values.view(np.uint8).data)
                return rows.astype(self.dtype.newbyteorder("="), copy=False)  # cast: of bytes alone

            yield read


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

    @contextmanager
    def opened(self) -> Iterator[ReadRows]:
        """As that of an array on a disk."""
        place = 0

        def read(num_rows: int) -> NDArray[Any]:
            nonlocal place
            rows = self.array[place : place + num_rows]
            place += len(rows)
            return rows.astype(rows.dtype.newbyteorder("="), copy=False)  # cast: of bytes alone

        yield read


#: An array to be read row by row.
Stream: TypeAlias = ArrayStream | MemoryStream
