"""Edges from neighbor lists: offsets and entries, as CSR matrices and graph files have them.

The lists are streams, on a disk or in memory, and are read in bounded memory, whatever their
number. Edges come in the order of the lists.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount._sources.arrays.column_edges import require_length
from graphmount._sources.arrays.list_owners import ListOwners
from graphmount._sources.contract.batches import EdgeBatch, Skipped
from graphmount._sources.contract.edge_values import (
    as_node_ids,
    as_timestamps,
    as_weights,
    require_ids,
    require_timestamps,
    require_weights,
)
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from graphmount._sources.arrays.array_stream import Stream, StreamReader
    from graphmount._support.text_columns import Keys


class ListEdges:
    """Edges from lists; an `EdgeSource`.

    Args:
        name: What messages call the source.
        indptr: Offsets: the entries of list i are `indices[indptr[i]:indptr[i + 1]]`.
        indices: The entries of all lists.
        owners: Whether edges run from the owner of a list ("src") or to it ("dst").
        weights: One number for each entry.
        timestamps: One integer for each entry.
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
        weights: Stream | None = None,
        timestamps: Stream | None = None,
        is_undirected: bool = False,
    ) -> None:
        for stream in (indptr, indices):
            require_ids(stream.dtype, stream.name)
            if len(stream.shape) != 1:
                raise SourceError(f"{stream.name} has shape {stream.shape}, but must be a vector")
        self._count = indices.shape[0]
        if weights is not None:
            require_weights(weights.dtype, weights.name)
            require_length(weights, self._count)
        if timestamps is not None:
            require_timestamps(timestamps.dtype, timestamps.name)
            require_length(timestamps, self._count)
        if indptr.shape[0] == 0:
            raise SourceError(f"{indptr.name} is empty; offsets are one more than there are lists")
        self._indptr = indptr
        self._indices = indices
        self._owners = owners
        self._weights = weights
        self._timestamps = timestamps
        streams = (indptr, indices, weights, timestamps)
        self.name = name
        self.size: int | None = sum(stream.size for stream in streams if stream) or self._count
        self.num_edges: int | None = None if is_undirected else self._count
        self.estimated_edges: int | None = None
        self.num_nodes: int | None = indptr.shape[0] - 1
        self.is_symmetric = is_undirected
        self.has_text_ids = False
        self.has_weights = weights is not None
        self.has_timestamps = timestamps is not None
        #: What the source of the graph called its nodes, if that is known.
        self.node_ids: Keys | None = None
        self.skipped = Skipped()

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        # Owners and entries as int64, with what making them takes, and a chunk of offsets.
        edge_bytes = 64 + 16 * self.has_weights + 16 * self.has_timestamps
        edge_bytes *= 2 if self.is_symmetric else 1
        step = max(1, memory // edge_bytes)
        with ExitStack() as stack:
            offsets = stack.enter_context(self._indptr.open())
            owners = ListOwners(
                offsets, num_entries=self._count, name=self._indptr.name, chunk=step
            )
            indices = stack.enter_context(self._indices.open())
            weights = stack.enter_context(self._weights.open()) if self._weights else None
            times = stack.enter_context(self._timestamps.open()) if self._timestamps else None
            for first in range(0, self._count, step):
                count = min(step, self._count - first)
                yield self._batch(first, owners.take(count), indices.read(count), weights, times)
            owners.finish()

    def _batch(
        self,
        first: int,
        owners: NDArray[np.int64],
        entries: NDArray[Any],
        weights: StreamReader | None,
        times: StreamReader | None,
    ) -> EdgeBatch:
        count = len(owners)
        neighbors = as_node_ids(entries, self._indices.name, first)
        edge_weights = (
            as_weights(weights.read(count), self._weights.name, first)
            if weights and self._weights
            else None
        )
        edge_times = (
            as_timestamps(times.read(count), self._timestamps.name, first)
            if times and self._timestamps
            else None
        )
        if self.is_symmetric:
            once = np.flatnonzero(neighbors <= owners)
            owners, neighbors = owners[once], neighbors[once]
            edge_weights = None if edge_weights is None else edge_weights[once]
            edge_times = None if edge_times is None else edge_times[once]
        is_src = self._owners == "src"
        return EdgeBatch(
            src=owners if is_src else neighbors,
            dst=neighbors if is_src else owners,
            weights=edge_weights,
            timestamps=edge_times,
            done=(self.size or 0) * (first + count) // self._count,
        )
