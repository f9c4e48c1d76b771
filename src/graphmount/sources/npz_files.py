"""NumPy's `.npz` archives: their members as streams, compressed or not.

Members are unpacked piece by piece as they are read, so an archive may be larger than memory.
"""

from __future__ import annotations

import math
import zipfile
from typing import Any, cast

import numpy as np

from graphmount.errors import SourceError
from graphmount.sources.array_stream import ArrayStream
from graphmount.sources.npy_files import NPY_MAGIC, read_npy_header
from graphmount.sources.stored_bytes import member_bytes, open_archive

#: Members that are read as a whole say how large something is, or of which kind.
_MOST_SMALL_BYTES = 1 << 20


class NpzFile:
    """The members of an archive.

    Args:
        path: The file.

    Raises:
        SourceError: It is not an archive.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with open_archive(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
        self.names = tuple(name.removesuffix(".npy") for name in names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def stream(self, name: str) -> ArrayStream:
        """One member as a stream.

        Raises:
            SourceError: There is none of this name, or it is not an array of numbers.
        """
        self.require(name)
        place = f"{self.path}, member {name!r}"
        with open_archive(self.path) as archive:
            try:
                with archive.open(f"{name}.npy") as file:
                    if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
                        raise SourceError(f"{place} is not an array")
                    file.seek(0)
                    shape, dtype, is_fortran = read_npy_header(file, place)
                    offset = file.tell()
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
                raise SourceError(f"{place}: {error}") from error
            there = archive.getinfo(f"{name}.npy").file_size - offset
            stored = member_bytes(archive, self.path, f"{name}.npy", offset)
        needed = math.prod(shape) * dtype.itemsize
        if there < needed:
            raise SourceError(
                f"{place} is cut off: an array of shape {shape} and dtype {dtype} takes {needed} "
                f"bytes, and {there} are there"
            )
        return ArrayStream(stored=stored, shape=shape, dtype=dtype, is_fortran=is_fortran)

    def require(self, name: str) -> None:
        """Raises unless there is a member of this name."""
        if name not in self.names:
            raise SourceError(
                f"{self.path} has no member {name!r}; it has "
                f"{', '.join(map(repr, self.names)) or 'none'}"
            )

    def small(self, name: str) -> Any:  # noqa: ANN401  (an array of any shape, text too)
        """A small member as an array, such as SciPy's `format` and `shape`."""
        self.require(name)
        with open_archive(self.path) as archive:
            info = archive.getinfo(f"{name}.npy")
            if info.file_size > _MOST_SMALL_BYTES:
                raise SourceError(f"{self.path}, member {name!r}: larger than it should be")
            try:
                with archive.open(info) as file:
                    return cast("Any", np.lib.format.read_array(file, allow_pickle=False))
            except (ValueError, zipfile.BadZipFile, RuntimeError, EOFError) as error:
                raise SourceError(f"{self.path}, member {name!r}: {error}") from error
