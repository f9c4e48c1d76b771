"""Whether the first line of a file of edges may be a header that was taken for an edge.

If ids are text, a header looks like an edge. The only difference is that the words of a header
occur nowhere else. So they are counted while the edges are read, until one of them occurs again.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from graphmount._compile.edges.key_map import shown_key
from graphmount._support.user_warnings import warn_user
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from graphmount._sources.contract.batches import EdgeBatch, EdgeSource

#: What to do about it.
HEADER_ADVICE = (
    "pass header=True if it is one, or header=False if it is not (for a dataset, "
    "edges=gm.EdgeTable(source=..., header=True))"
)


class FirstLine:
    """The first edge of a source, and how often its ends occur.

    Args:
        source: The edges.
        has_two_types: Whether sources and destinations are numbered each by themselves.
    """

    def __init__(self, source: EdgeSource, *, has_two_types: bool = False) -> None:
        self._source = source
        self._has_two_types = has_two_types
        self._ends: tuple[int, int] | None = None
        self._words = ("", "")
        self._times = 0
        self._is_doubtful = source.num_doubtful_lines > 0

    def look_at(self, batch: EdgeBatch, src: NDArray[np.int64], dst: NDArray[np.int64]) -> None:
        """Counts the ends of the first edge among more edges, given as numbers of nodes."""
        if not self._is_doubtful or len(src) == 0:
            return
        if self._ends is None:
            self._ends = int(src[0]), int(dst[0])
            self._words = shown_key(batch.src, 0), shown_key(batch.dst, 0)
        first, second = self._ends
        is_line = (src == first) & (dst == second)
        occurs = (src == first) | (dst == second)
        if not self._has_two_types:
            occurs |= (src == second) | (dst == first)
        self._times += int(np.count_nonzero(is_line))
        # Each file of several may have the same header.
        self._is_doubtful = bool(
            np.array_equal(is_line, occurs) and self._times <= self._source.num_doubtful_lines
        )

    def warn(self, num_edges: int) -> None:
        """Warns, if the ends of the first edge occur nowhere else among so many."""
        if not self._is_doubtful or num_edges <= self._times:
            return
        first, second = self._words
        warn_user(
            f"{self._source.name}: {first} and {second} in its first line occur nowhere else, so "
            f"that line may be a header, and not an edge; {HEADER_ADVICE}"
        )

    @property
    def hint(self) -> str:
        """What to add to a message about unknown nodes."""
        if not self._is_doubtful:
            return ""
        return f". The first line of {self._source.name} may be a header: {HEADER_ADVICE}"

    @contextmanager
    def hinting(self) -> Iterator[None]:
        """Adds the hint to the core's message about nodes without a row."""
        try:
            yield
        except SourceError as error:
            if self.hint and "nodes have no row" in str(error):
                raise SourceError(f"{error}{self.hint}") from None
            raise
