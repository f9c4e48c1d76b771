"""How many neighbors nodes have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from graphmount import _core


@dataclass(frozen=True, kw_only=True)
class DegreeSummary:
    """How the degrees of a graph are distributed.

    Attributes:
        smallest: The smallest degree.
        median: Half of the nodes have at most this degree.
        ninety_percent: 90 % of the nodes have at most this degree.
        ninety_nine_percent: 99 % of the nodes have at most this degree. Percentiles above 65,536
            are rounded down to a power of two.
        largest: The largest degree.
        mean: Edges per node.
        isolated: Nodes of degree 0.
        histogram: (lowest degree, highest degree, nodes) for 0, 1, 2-3, 4-7, 8-15, …

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 2], [1, 1]), "g.gl")
        >>> gm.Graph("g.gl").degree_summary(direction="in").histogram
        ((0, 0, 2), (1, 1, 0), (2, 3, 1))
    """

    smallest: int
    median: int
    ninety_percent: int
    ninety_nine_percent: int
    largest: int
    mean: float
    isolated: int
    histogram: tuple[tuple[int, int, int], ...]

    @classmethod
    def _of(cls, summary: _core.DegreeSummary) -> Self:
        """The core's summary, with a histogram that ends with the largest degree."""
        counts = summary.histogram
        while len(counts) > 1 and counts[-1] == 0:
            counts.pop()
        lowest = [0, *(1 << power for power in range(len(counts)))]
        return cls(
            smallest=summary.smallest,
            median=summary.median,
            ninety_percent=summary.ninety_percent,
            ninety_nine_percent=summary.ninety_nine_percent,
            largest=summary.largest,
            mean=summary.mean,
            isolated=counts[0],
            histogram=tuple(
                (lowest[i], max(0, lowest[i + 1] - 1), count) for i, count in enumerate(counts)
            ),
        )
