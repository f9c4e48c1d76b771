"""Weights and times of edges, as streams that are read beside the ends of the edges.

They are in the source itself, or in an array as long as its edges: in memory, or in a file of
NumPy.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
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
    from collections.abc import Callable, Iterator

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeBatch

_REQUIRE = {"weights": require_weights, "timestamps": require_timestamps}
_CONVERT = {"weights": as_weights, "timestamps": as_timestamps}


class ValueStreams:
    """The values of edges, none, one or two for each.

    Args:
        weights: One number for each edge.
        timestamps: One integer or datetime64 for each edge.

    Attributes:
        streams: Those that there are, by what they are in an `EdgeBatch`.

    Raises:
        SourceError: They are of the wrong dtype.
    """

    def __init__(self, weights: Stream | None, timestamps: Stream | None) -> None:
        given = {"weights": weights, "timestamps": timestamps}
        self.streams = {name: stream for name, stream in given.items() if stream is not None}
        for name, stream in self.streams.items():
            _REQUIRE[name](stream.dtype, stream.name)

    def __contains__(self, name: str) -> bool:
        return name in self.streams

    def begin(self, stack: ExitStack) -> Callable[[int, int], dict[str, Any]]:
        """Opens the streams until the stack is left.

        Returns:
            What reads the next values: so many, of the edges from this one on, as the arguments of
            an `EdgeBatch`.
        """
        readers = {
            name: stack.enter_context(closing(stream.open()))
            for name, stream in self.streams.items()
        }

        def read(count: int, first: int) -> dict[str, Any]:
            return {
                name: _CONVERT[name](reader.read(count), self.streams[name].name, first)
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
        # All that the source tells of itself, which is what has no underscore.
        vars(self).update(
            {name: value for name, value in vars(source).items() if not name.startswith("_")}
        )
        self._source = source
        self._values = ValueStreams(weights, timestamps)
        self.has_weights = source.has_weights or "weights" in self._values
        self.has_timestamps = source.has_timestamps or "timestamps" in self._values
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
