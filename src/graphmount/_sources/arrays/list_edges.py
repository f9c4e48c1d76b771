"""Edges from neighbor lists: offsets and entries, as CSR matrices and graph files have them.

The lists are streams, on a disk or in memory, and are read in bounded memory, whatever their
number. Edges come in the order of the lists. Offsets are read as they are needed, so they may be
larger than memory, and are checked: none decreases, the first is 0, and the last is the number of
entries.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount._sources.arrays.value_streams import StreamEdges, require_length
from graphmount._sources.contract.batches import EdgeBatch
from graphmount._sources.contract.exact import as_int64, as_node_ids, require_ids
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from graphmount._sources.arrays.array_stream import ReadRows, Stream


class ListOwners:
    """Owners of entries, from the first entry on.

    Args:
        offsets: What reads the offsets, of which there is one more than there are lists.
        num_entries: How many entries all lists have.
        name: What messages call the offsets.
        chunk: How many offsets to read at once.
    """

    def __init__(self, offsets: ReadRows, *, num_entries: int, name: str, chunk: int) -> None:
        self._offsets = offsets
        self._num_entries = num_entries
        self._name = name
        self._chunk = chunk
        self._ends = np.empty(0, np.int64)  # where lists end, from list `_list` on
        self._list = 0
        self._num_read = 0
        self._place = 0
        first = offsets(1)
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
        offsets = as_int64(self._offsets(self._chunk), f"{self._name}: list", self._num_read)
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


class ListEdges(StreamEdges):
    """Edges from lists; an `EdgeSource`.

    Args:
        name: What messages call the source.
        indptr: Offsets: the entries of list i are `indices[indptr[i]:indptr[i + 1]]`.
        indices: The entries of all lists.
        owners: Whether edges run from the owner of a list ("src") or to it ("dst").
        values: Weights and timestamps, one for each entry.
        is_undirected: Whether every edge is in the lists of both its ends. Each is then given once,
            and the source is symmetric.

    Raises:
        SourceError: The arrays do not fit together, or are of the wrong dtype.
    """

    def __init__(
        self,
        *,
        name: str,
        indptr: Stream,
        indices: Stream,
        owners: Literal["src", "dst"],
        values: Mapping[str, Stream | None] | None = None,
        is_undirected: bool = False,
    ) -> None:
        for stream in (indptr, indices):
            require_ids(stream.dtype, stream.name)
            if len(stream.shape) != 1:
                raise SourceError(f"{stream.name} has shape {stream.shape}, but must be a vector")
        self._count = indices.shape[0]
        self._set_values(values or {})
        for stream in self._values.values():
            require_length(stream, self._count)
        if indptr.shape[0] == 0:
            raise SourceError(f"{indptr.name} is empty; offsets are one more than there are lists")
        self._indptr = indptr
        self._indices = indices
        self._owners = owners
        streams = (indptr, indices, *self._values.values())
        super().__init__(name, sum(stream.size for stream in streams) or self._count)
        self.num_edges = None if is_undirected else self._count
        self.num_nodes = indptr.shape[0] - 1
        self.is_symmetric = is_undirected

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        # Owners and entries as int64, with what making them takes, and a chunk of offsets.
        edge_bytes = 64 + 16 * self.has_weights + 16 * self.has_timestamps
        edge_bytes *= 2 if self.is_symmetric else 1
        step = max(1, memory // edge_bytes)
        with ExitStack() as stack:
            offsets = stack.enter_context(self._indptr.opened())
            owners = ListOwners(
                offsets, num_entries=self._count, name=self._indptr.name, chunk=step
            )
            read_indices = stack.enter_context(self._indices.opened())
            read_values = self._open_values(stack)
            for first in range(0, self._count, step):
                count = min(step, self._count - first)
                owned = owners.take(count)
                neighbors = as_node_ids(read_indices(count), self._indices.name, first)
                yield self._batch(owned, neighbors, read_values(count, first), first + count)
            owners.finish()

    def _batch(
        self,
        owners: NDArray[np.int64],
        neighbors: NDArray[np.int64],
        values: dict[str, NDArray[Any]],
        upto: int,
    ) -> EdgeBatch:
        if self.is_symmetric:
            once = np.flatnonzero(neighbors <= owners)
            owners, neighbors = owners[once], neighbors[once]
            values = {name: column[once] for name, column in values.items()}
        is_src = self._owners == "src"
        return EdgeBatch(
            src=owners if is_src else neighbors,
            dst=neighbors if is_src else owners,
            **values,
            done=(self.size or 0) * upto // self._count,
        )
