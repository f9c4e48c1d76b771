"""Edges from columns: where each begins, where it ends, its weight and its time.

The columns are streams, on a disk or in memory, and are read side by side in bounded memory. Arrays
of shape (2, edges), (edges, 2) and pairs of vectors all come down to this: one of shape (2, edges)
has sources in its first row and destinations in its second, as PyG's `edge_index`; one of shape
(edges, 2) has an edge in each row. One of shape (2, 2) could be either, and is taken for the first.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from graphmount._sources.arrays.value_streams import StreamEdges, require_length
from graphmount._sources.contract.batches import EdgeBatch
from graphmount._sources.contract.exact import as_node_ids, require_ids
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphmount._sources.arrays.array_stream import ArrayStream, Stream


class ColumnEdges(StreamEdges):
    """Edges from streams; an `EdgeSource`.

    Args:
        name: What messages call the source.
        ends: One stream of shape (edges, 2), or a pair of streams (sources, destinations).
        values: Weights and timestamps, one for each edge.
        num_nodes: How many nodes there are, if the source says so.

    Raises:
        SourceError: The columns are not equally long, or of the wrong dtype or shape.
    """

    def __init__(
        self,
        *,
        name: str,
        ends: Stream | tuple[Stream, Stream],
        values: Mapping[str, Stream | None] | None = None,
        num_nodes: int | None = None,
    ) -> None:
        self._ends = ends if isinstance(ends, tuple) else (ends,)
        for stream in self._ends:
            require_ids(stream.dtype, stream.name)
            wanted = 1 if len(self._ends) == 2 else 2
            if len(stream.shape) != wanted or (wanted == 2 and stream.shape[1] != 2):
                raise SourceError(
                    f"{stream.name} has shape {stream.shape}; edges are of shape (2, edges) or "
                    "(edges, 2), or two vectors"
                )
        self._set_values(values or {})
        self._streams: list[Stream] = [*self._ends, *self._values.values()]
        self._count = self._ends[0].shape[0]
        for stream in self._streams[1:]:
            require_length(stream, self._count)
        super().__init__(name, sum(stream.size for stream in self._streams) or self._count)
        self.num_edges = self._count
        self.num_nodes = num_nodes

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        # What is read, the columns made of it, and what checking them takes.
        edge_bytes = 16 + 12 * self.has_weights + 8 * self.has_timestamps
        for stream in self._streams:
            edge_bytes += stream.dtype.itemsize * (2 if len(stream.shape) == 2 else 1)
        step = max(1, memory // edge_bytes)
        with ExitStack() as stack:
            ends = [stack.enter_context(stream.opened()) for stream in self._ends]
            read_values = self._open_values(stack)
            for first in range(0, self._count, step):
                columns = [read(step) for read in ends]
                src = columns[0] if len(columns) == 2 else columns[0][:, 0]
                dst = columns[1] if len(columns) == 2 else columns[0][:, 1]
                done = min(first + step, self._count)
                yield EdgeBatch(
                    src=as_node_ids(src, self._ends[0].name, first),
                    dst=as_node_ids(dst, self._ends[-1].name, first),
                    **read_values(step, first),
                    done=(self.size or 0) * done // self._count,
                )


def as_ends(stream: ArrayStream) -> ArrayStream:
    """The array as one of shape (edges, 2)."""
    if len(stream.shape) != 2 or 2 not in stream.shape:
        raise SourceError(
            f"{stream.name} has shape {stream.shape}; edges are of shape (2, edges) or (edges, 2)"
        )
    return stream.T if stream.shape[0] == 2 else stream
