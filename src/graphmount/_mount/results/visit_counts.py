"""How often random walks visit nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class VisitCounts:
    """The nodes that walks from each start have visited: see `Graph.visit_counts`.

    Those of start i are `nodes[indptr[i]:indptr[i + 1]]`, the ones visited most first, and nodes
    visited as often in the order of their ids.

    Attributes:
        indptr: int64, one more than there are starts.
        nodes: int64, the nodes visited, once for each start.
        counts: int64, how often.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1], [1, 0]), "pair.gl")
        >>> visits = gm.Graph("pair.gl").visit_counts([0, 1], 10, length=4, restart=0)
        >>> visits.indptr, visits.nodes, visits.counts
        (array([0, 2, 4]), array([0, 1, 1, 0]), array([30, 20, 30, 20]))
    """

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int64]
    counts: NDArray[np.int64]
