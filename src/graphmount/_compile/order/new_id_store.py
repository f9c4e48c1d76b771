"""The new numbers of the nodes of several types, of which those in use are in memory.

Where many types have many nodes, the others wait in temporary files without a name, of which a
process that is killed leaves nothing.
"""

from __future__ import annotations

import errno
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Waiting(NamedTuple):
    """Numbers in a file."""

    file: Any  # what a temporary file is depends on the system
    dtype: np.dtype[Any]
    size: int


class NewIdStore:
    """The new numbers of the nodes of each type, of which those in use are in memory.

    Args:
        memory: How much the numbers of all types may take to stay in memory; more of them wait in
            temporary files.
        folder: Where temporary files may be made.
    """

    def __init__(self, *, memory: int, folder: str) -> None:
        self._memory = memory
        self._folder = folder
        self._arrays: dict[str, NDArray[Any]] = {}
        self._files: dict[str, _Waiting] = {}

    @property
    def held_bytes(self) -> int:
        """What is in memory."""
        return sum(array.nbytes for array in self._arrays.values())

    def keep(self, name: str, new_ids: NDArray[Any], *, total: int) -> None:
        """Takes the numbers of a type.

        Args:
            name: The type.
            new_ids: Its numbers.
            total: What those of all types take together.

        Raises:
            OSError: The temporary file cannot be written.
        """
        if total <= self._memory:
            self._arrays[name] = new_ids
            return
        try:
            file: Any = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
            self._files[name] = _Waiting(file, new_ids.dtype, len(new_ids))
            rest = new_ids.view(np.uint8)
            while len(rest):
                rest = rest[file.write(rest) :]
        except OSError as error:
            message = f"{error.strerror}: new ids of nodes wait here; make room, or pass tmp="
            raise OSError(error.errno, message, self._folder) from None

    def load(self, *names: str) -> dict[str, NDArray[Any] | None]:
        """The numbers of these types, None for those that keep theirs; others leave memory.

        Args:
            names: The types.
        """
        for name in self._files:
            if name not in names:
                self._arrays.pop(name, None)
        for name in names:
            if name in self._files and name not in self._arrays:
                self._arrays[name] = self._read(name)
        return {name: self._arrays.get(name) for name in names}

    def _read(self, name: str) -> NDArray[Any]:
        file, dtype, size = self._files[name]
        array = np.empty(size, dtype)
        rest = array.view(np.uint8)
        file.seek(0)
        while len(rest):
            some = file.readinto(rest)
            if not some:
                raise OSError(errno.EIO, "a temporary file is shorter than it was", self._folder)
            rest = rest[some:]
        return array

    def close(self) -> None:
        """Lets go of all of them."""
        self._arrays.clear()
        while self._files:
            self._files.popitem()[1].file.close()
