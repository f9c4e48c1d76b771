"""Edges in memory between nodes that are known by text: a pair of lists or arrays of strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.contract.batches import EdgeBatch, EdgeSource
from graphmount._support.arguments import is_text
from graphmount._support.text_columns import from_strings
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: About what a string and its place in a list take.
_EDGE_BYTES = 256


def is_name_pair(source: object) -> bool:
    """Whether this is a pair of columns, of which the first begins with a string."""
    if not isinstance(source, tuple) or len(source) != 2:
        return False
    first = source[0]
    if isinstance(first, np.ndarray):
        return first.dtype.kind in "UT" or (
            first.dtype.kind == "O" and len(first) > 0 and isinstance(first.flat[0], str)
        )
    return isinstance(first, list | tuple) and len(first) > 0 and isinstance(first[0], str)


class NameEdges(EdgeSource):
    """Edges of a pair of columns of strings; an `EdgeSource`.

    Args:
        src: Where the edges begin.
        dst: Where they end.

    Raises:
        ValueError: They are not of the same length.
    """

    def __init__(self, src: Sequence[Any], dst: Sequence[Any]) -> None:
        if len(src) != len(dst):
            raise ValueError(f"sources has {len(src)} ids, and destinations has {len(dst)}")
        super().__init__("edges in memory", len(src))
        self._ends = (src, dst)
        self.num_edges = len(src)
        self.has_text_ids = True

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        step = max(1, memory // _EDGE_BYTES)
        for first in range(0, len(self._ends[0]), step):
            last = min(first + step, len(self._ends[0]))
            src, dst = (self._strings(end, first, last) for end in self._ends)
            yield EdgeBatch(src=from_strings(src), dst=from_strings(dst), done=last)

    def _strings(self, end: Sequence[Any], first: int, last: int) -> list[str]:
        strings = []
        for place, name in enumerate(end[first:last], first):
            if not isinstance(name, str):
                raise SourceError(
                    f"{self.name}, edge {place}: {name!r} is no string, as the ids before it are"
                )
            if not is_text(name):
                raise SourceError(
                    f"{self.name}, edge {place}: {name!r} is not valid text; it has half of a "
                    "character"
                )
            strings.append(str(name))
        return strings
