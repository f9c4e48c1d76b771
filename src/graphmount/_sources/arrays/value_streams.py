"""Weights and times of edges, as streams that are read beside the ends of the edges."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from graphmount._sources.contract.edge_values import (
    as_timestamps,
    as_weights,
    counted,
    require_timestamps,
    require_weights,
)
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from graphmount._sources.arrays.array_stream import Stream

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
