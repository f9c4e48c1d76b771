"""Weights and timestamps that are not in the source itself, but in an array as long as its edges.

The array is in memory or in a file of NumPy, and is read along with the edges.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmount._sources.contract.edge_values import (
    as_timestamps,
    as_weights,
    counted,
    require_timestamps,
    require_weights,
)
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeBatch, EdgeSource


class SideColumns:
    """A source of edges with weights or timestamps from elsewhere; an `EdgeSource`.

    Args:
        source: The edges, of which none may be left out: values and edges would not match.
        weights: One number for each edge.
        timestamps: One integer or datetime64 for each edge.

    Raises:
        SourceError: The values are of the wrong dtype, or not as many as the edges.
    """

    def __init__(
        self, source: EdgeSource, *, weights: Stream | None, timestamps: Stream | None
    ) -> None:
        self._source = source
        self._weights = weights
        self._timestamps = timestamps
        self.name = source.name
        self.size = source.size
        self.num_edges = source.num_edges
        self.estimated_edges = source.estimated_edges
        self.num_nodes = source.num_nodes
        self.node_ids = source.node_ids
        self.is_symmetric = source.is_symmetric
        self.has_text_ids = source.has_text_ids
        self.has_weights = source.has_weights or weights is not None
        self.has_timestamps = source.has_timestamps or timestamps is not None
        self.skipped = source.skipped
        if weights is not None:
            require_weights(weights.dtype, weights.name)
            self._require_vector(weights)
        if timestamps is not None:
            require_timestamps(timestamps.dtype, timestamps.name)
            self._require_vector(timestamps)

    def _require_vector(self, stream: Stream) -> None:
        if len(stream.shape) != 1:
            raise SourceError(
                f"{stream.name} has shape {stream.shape}, but one value is needed for each edge"
            )
        if self.num_edges is not None and stream.shape[0] != self.num_edges:
            raise self._wrong_length(stream, counted(self.num_edges, "edge"))

    def _wrong_length(self, stream: Stream, edges: str) -> SourceError:
        values = counted(stream.shape[0], "value")
        return SourceError(f"{self.name}: {stream.name} has {values} for {edges}")

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        with ExitStack() as stack:
            weights = stack.enter_context(self._weights.open()) if self._weights else None
            times = stack.enter_context(self._timestamps.open()) if self._timestamps else None
            first = 0
            for batch in self._source.batches(memory=max(1, memory // 2)):
                count = len(batch.src)
                if self._weights and weights:
                    self._require_more(self._weights, first + count)
                    values = as_weights(weights.read(count), self._weights.name, first)
                    batch = replace(batch, weights=values)  # noqa: PLW2901
                if self._timestamps and times:
                    self._require_more(self._timestamps, first + count)
                    moments = as_timestamps(times.read(count), self._timestamps.name, first)
                    batch = replace(batch, timestamps=moments)  # noqa: PLW2901
                first += count
                yield batch
        for stream in (self._weights, self._timestamps):
            if stream and stream.shape[0] != first:
                raise self._wrong_length(stream, counted(first, "edge"))

    def _require_more(self, stream: Stream, upto: int) -> None:
        if stream.shape[0] < upto:
            raise self._wrong_length(stream, f"at least {counted(upto, 'edge')}")
