"""Weights and times of edges, as streams that are read beside the ends of the edges.

They are in the source itself, or in an array as long as its edges: in memory, or in a file of
NumPy.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphmount._sources.contract.batches import EdgeSource
from graphmount._sources.contract.exact import (
    as_timestamps,
    as_weights,
    counted,
    require_timestamps,
    require_weights,
)
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeBatch

_REQUIRE = {"weights": require_weights, "timestamps": require_timestamps}
_CONVERT = {"weights": as_weights, "timestamps": as_timestamps}


class StreamEdges(EdgeSource):
    """Edges that have streams for weights and times."""

    def _set_values(self, values: Mapping[str, Stream | None]) -> None:
        """Says which values edges have, by what they are in an `EdgeBatch`.

        Raises:
            SourceError: They are of the wrong dtype.
        """
        self._values = {name: stream for name, stream in values.items() if stream is not None}
        for name, stream in self._values.items():
            _REQUIRE[name](stream.dtype, stream.name)
        self.has_weights |= "weights" in self._values
        self.has_timestamps |= "timestamps" in self._values

    def _open_values(self, stack: ExitStack) -> Callable[[int, int], dict[str, Any]]:
        """Opens the streams until the stack is left.

        Returns:
            What reads the next values: so many, of the edges from this one on, as the arguments of
            an `EdgeBatch`.
        """
        readers = {
            name: stack.enter_context(stream.opened()) for name, stream in self._values.items()
        }

        def read(count: int, first: int) -> dict[str, Any]:
            return {
                name: _CONVERT[name](reader(count), self._values[name].name, first)
                for name, reader in readers.items()
            }

        return read


def require_length(stream: Stream, num_edges: int) -> None:
    """Raises unless a column has one value for each edge."""
    if stream.shape != (num_edges,):
        are = "is" if num_edges == 1 else "are"
        raise SourceError(
            f"{stream.name} has shape {stream.shape}, but there {are} "
            f"{counted(num_edges, 'edge')}: one value is needed for each"
        )


class SideColumns(StreamEdges):
    """A source of edges with weights or timestamps from elsewhere; an `EdgeSource`.

    Args:
        source: The edges, of which none may be left out: values and edges would not match.
        values: One number, or one integer or datetime64, for each edge.

    Raises:
        SourceError: The values are of the wrong dtype, or not as many as the edges.
    """

    def __init__(self, source: EdgeSource, values: Mapping[str, Stream]) -> None:
        self._be_like(source)
        self._source = source
        self._set_values(values)
        for stream in values.values():
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
            read_values = self._open_values(stack)
            first = 0
            for batch in self._source.batches(memory=max(1, memory // 2)):
                upto = first + len(batch.src)
                for stream in self._values.values():
                    if stream.shape[0] < upto:
                        raise self._wrong_length(stream, f"at least {counted(upto, 'edge')}")
                yield replace(batch, **read_values(upto - first, first))
                first = upto
        for stream in self._values.values():
            if stream.shape[0] != first:
                raise self._wrong_length(stream, counted(first, "edge"))
