"""Neighbor lists as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class NeighborLists:
    """The neighbor lists of one direction, as read-only views of the file.

    The neighbors of node v are `indices[indptr[v]:indptr[v + 1]]`; the other arrays run parallel to
    `indices`. The views keep the file mapped, also after the graph is closed.

    Attributes:
        indptr: int64, one more than there are nodes.
        indices: int32 or int64, the neighbors, sorted within each list (by time first, where the
            graph has timestamps).
        weights: float32, or None if the graph has none.
        timestamps: int64, or None if the graph has none.
        edge_ids: The id of each entry's edge. An edge's id is its position in the incoming lists
            (in the outgoing ones if the file has no others), so for those this is None: position
            and id are the same.
        source_rows: The row each edge had in the source. Kept on request, and once: with the lists
            that number the edges, so `source_rows[edge_id]` is the row; None in the others.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 2], [1, 1]), "g.gl")
        >>> lists = gm.Graph("g.gl").neighbor_lists("in")
        >>> lists.indices[lists.indptr[1] : lists.indptr[2]]
        array([0, 2], dtype=int32)
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32] | NDArray[np.int64]
    weights: NDArray[np.float32] | None
    timestamps: NDArray[np.int64] | None
    edge_ids: NDArray[np.int32] | NDArray[np.int64] | None
    source_rows: NDArray[np.int32] | NDArray[np.int64] | None
