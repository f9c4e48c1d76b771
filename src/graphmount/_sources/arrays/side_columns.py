"""Weights and timestamps that are not in the source itself, but in an array as long as its edges.

The array is in memory or in a file of NumPy, and is read along with the edges.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmount._sources.arrays.value_streams import ValueStreams
from graphmount._sources.contract.batches import EdgeSource
from graphmount._sources.contract.edge_values import counted
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeBatch


class SideColumns(EdgeSource):
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
        super().__init__(source.name, source.size)
        self._source = source
        self._values = ValueStreams(weights, timestamps)
        self.num_edges = source.num_edges
        self.estimated_edges = source.estimated_edges
        self.num_nodes = source.num_nodes
        self.node_ids = source.node_ids
        self.is_symmetric = source.is_symmetric
        self.has_text_ids = source.has_text_ids
        self.has_weights = source.has_weights or "weights" in self._values
        self.has_timestamps = source.has_timestamps or "timestamps" in self._values
        self.skipped = source.skipped
        for stream in self._values.streams.values():
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
            read_values = self._values.begin(stack)
            first = 0
            for batch in self._source.batches(memory=max(1, memory // 2)):
                upto = first + len(batch.src)
                for stream in self._values.streams.values():
                    if stream.shape[0] < upto:
                        raise self._wrong_length(stream, f"at least {counted(upto, 'edge')}")
                yield replace(batch, **read_values(upto - first, first))
                first = upto
        for stream in self._values.streams.values():
            if stream.shape[0] != first:
                raise self._wrong_length(stream, counted(first, "edge"))
