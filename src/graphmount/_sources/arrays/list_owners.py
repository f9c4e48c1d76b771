"""Whose entry is it: offsets of lists, read forward, turned into one owner for each entry.

Compressed matrices and graph files keep lists as offsets and entries. Offsets are read as they are
needed, so they may be larger than memory. They are checked: none decreases, the first is 0, and the
last is the number of entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmount._sources.contract.exact import as_int64
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._sources.arrays.array_stream import StreamReader


class ListOwners:
    """Owners of entries, from the first entry on.

    Args:
        offsets: A reader of the offsets, of which there is one more than there are lists.
        num_entries: How many entries all lists have.
        name: What messages call the offsets.
        chunk: How many offsets to read at once.
    """

    def __init__(self, offsets: StreamReader, *, num_entries: int, name: str, chunk: int) -> None:
        self._offsets = offsets
        self._num_entries = num_entries
        self._name = name
        self._chunk = chunk
        self._ends = np.empty(0, np.int64)  # where lists end, from list `_list` on
        self._list = 0
        self._num_read = 0
        self._place = 0
        first = offsets.read(1)
        if len(first) == 0 or first[0] != 0:
            raise SourceError(f"{name}: the offsets of the lists do not begin with 0")

    def take(self, count: int) -> NDArray[np.int64]:
        """The owners of the next `count` entries, none of which may be behind the last."""
        stop = self._place + count
        parts = []
        while self._place < stop:
            if len(self._ends) == 0 and not self._refill():
                raise self._wrong_end()
            # All lists that end before `stop`, and the one that reaches it.
            upto = min(int(np.searchsorted(self._ends, stop)) + 1, len(self._ends))
            ends = np.minimum(self._ends[:upto], stop)
            lengths = np.diff(ends, prepend=self._place)
            parts.append(np.repeat(np.arange(self._list, self._list + upto), lengths))
            self._place = int(ends[-1])
            complete = int(np.searchsorted(self._ends, self._place, side="right"))
            self._ends = self._ends[complete:]
            self._list += complete
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def finish(self) -> None:
        """Checks the offsets behind the last entry."""
        last = int(self._ends[-1]) if len(self._ends) else self._place
        while self._refill():
            last = int(self._ends[-1])
        if last != self._num_entries:
            raise self._wrong_end()

    def _refill(self) -> bool:
        last = int(self._ends[-1]) if len(self._ends) else self._place
        offsets = as_int64(self._offsets.read(self._chunk), f"{self._name}: list", self._num_read)
        if len(offsets) == 0:
            return False
        bad = np.flatnonzero((np.diff(offsets, prepend=last) < 0) | (offsets > self._num_entries))
        if len(bad):
            place = int(bad[0])
            raise SourceError(
                f"{self._name}: list {self._num_read + place} ends at {offsets[place]}, which is "
                f"before it begins, or behind the {self._num_entries} entries"
            )
        self._num_read += len(offsets)
        self._ends = offsets
        return True

    def _wrong_end(self) -> SourceError:
        return SourceError(
            f"{self._name}: the lists do not end at the {self._num_entries} entries there are"
        )
