"""Edges from columns: where each begins, where it ends, its weight and its time.

The columns are streams, on a disk or in memory, and are read side by side in bounded memory. Arrays
of shape (2, edges), (edges, 2) and pairs of vectors all come down to this.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from graphmount._sources.contract.batches import EdgeBatch, Skipped
from graphmount._sources.contract.edge_values import (
    as_node_ids,
    as_timestamps,
    as_weights,
    counted,
    require_ids,
    require_timestamps,
    require_weights,
)
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._support.text_columns import Keys


class ColumnEdges:
    """Edges from streams; an `EdgeSource`.

    Args:
        name: What messages call the source.
        ends: One stream of shape (edges, 2), or a pair of streams (sources, destinations).
        weights: One number for each edge.
        timestamps: One integer or datetime64 for each edge.
        num_nodes: How many nodes there are, if the source says so.
        is_symmetric: Whether each edge is meant to run both ways.

    Raises:
        SourceError: The columns are not equally long, or of the wrong dtype or shape.
    """

    def __init__(
        self,
        *,
        name: str,
        ends: Stream | tuple[Stream, Stream],
        weights: Stream | None = None,
        timestamps: Stream | None = None,
        num_nodes: int | None = None,
        is_symmetric: bool = False,
    ) -> None:
        self._ends = ends if isinstance(ends, tuple) else (ends,)
        self._weights = weights
        self._timestamps = timestamps
        for stream in self._ends:
            require_ids(stream.dtype, stream.name)
            wanted = 1 if len(self._ends) == 2 else 2
            if len(stream.shape) != wanted or (wanted == 2 and stream.shape[1] != 2):
                raise SourceError(
                    f"{stream.name} has shape {stream.shape}; edges are of shape (2, edges) or "
                    "(edges, 2), or two vectors"
                )
        if weights is not None:
            require_weights(weights.dtype, weights.name)
        if timestamps is not None:
            require_timestamps(timestamps.dtype, timestamps.name)
        self.name = name
        self.num_edges: int | None = self._ends[0].shape[0]
        self.estimated_edges: int | None = None
        self._count = self._ends[0].shape[0]
        for stream in self._streams():
            if stream is not self._ends[0]:
                require_length(stream, self._count)
        self.size: int | None = sum(stream.size for stream in self._streams()) or self._count
        self.num_nodes = num_nodes
        self.node_ids: Keys | None = None
        self.is_symmetric = is_symmetric
        self.has_text_ids = False
        self.has_weights = weights is not None
        self.has_timestamps = timestamps is not None
        self.skipped = Skipped()

    def _streams(self) -> list[Stream]:
        streams = (*self._ends, self._weights, self._timestamps)
        return [stream for stream in streams if stream is not None]

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        # What is read, the columns made of it, and what checking them takes.
        edge_bytes = 16 + 12 * self.has_weights + 8 * self.has_timestamps
        for stream in self._streams():
            edge_bytes += stream.dtype.itemsize * (2 if len(stream.shape) == 2 else 1)
        step = max(1, memory // edge_bytes)
        with ExitStack() as stack:
            ends = [stack.enter_context(stream.open()) for stream in self._ends]
            weights = stack.enter_context(self._weights.open()) if self._weights else None
            times = stack.enter_context(self._timestamps.open()) if self._timestamps else None
            for first in range(0, self._count, step):
                columns = [reader.read(step) for reader in ends]
                src = columns[0] if len(columns) == 2 else columns[0][:, 0]
                dst = columns[1] if len(columns) == 2 else columns[0][:, 1]
                done = min(first + step, self._count)
                yield EdgeBatch(
                    src=as_node_ids(src, self._ends[0].name, first),
                    dst=as_node_ids(dst, self._ends[-1].name, first),
                    weights=as_weights(weights.read(step), self._name_of(self._weights), first)
                    if weights
                    else None,
                    timestamps=as_timestamps(
                        times.read(step), self._name_of(self._timestamps), first
                    )
                    if times
                    else None,
                    done=(self.size or 0) * done // self._count,
                )

    def _name_of(self, stream: Stream | None) -> str:
        return self.name if stream is None else stream.name


def require_length(stream: Stream, num_edges: int) -> None:
    """Raises unless a column has one value for each edge."""
    if stream.shape != (num_edges,):
        are = "is" if num_edges == 1 else "are"
        raise SourceError(
            f"{stream.name} has shape {stream.shape}, but there {are} "
            f"{counted(num_edges, 'edge')}: one value is needed for each"
        )
