"""What a loader of links yields: a batch of their end nodes, and which of them make the links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmount._loading.batch import Batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LinkBatch"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinkBatch(Batch):
    """One batch of a `LinkNeighborLoader`. It is yours: no later batch changes it.

    It has all that a `Batch` has. Seeds are the ends of the links and of their negatives: each once
    and sorted, or, if sampling is disjoint, as often as they are an end. All numbers here are such
    as `row` and `col` have: `nodes[edge_label_index]` are the nodes.

    Attributes:
        input_ids: The places of the batch's links in `edge_label_index` of the loader.
        batch: The place of the link whose tree a node belongs to, if sampling is disjoint; that of
            its link, for a negative.
        edge_label_index: Numbers of the sources and of the destinations: (2, links). Negatives come
            behind the links. None for triplets.
        edge_label: The labels of these, 0 for negatives. None for triplets, and without negatives
            if the loader was given none.
        edge_label_time: The times of these, or of the links of triplets; negatives have that of
            their link. None if the loader was given none.
        src_index: For triplets, the numbers of the sources of the links; else None, as the next.
        dst_pos_index: The numbers of the destinations.
        dst_neg_index: For each link, the numbers of its negative destinations: (links, amount).

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 3]), "g.gl")
        >>> loader = gm.LinkNeighborLoader(
        ...     gm.Graph("g.gl"), [-1], edge_label_index=[[0, 1], [3, 2]], batch_size=2
        ... )
        >>> batch = next(iter(loader))
        >>> batch.nodes[batch.edge_label_index]
        array([[0, 1],
               [3, 2]])
    """

    edge_label_index: NDArray[np.int64] | None
    edge_label: NDArray[Any] | None
    edge_label_time: NDArray[np.int64] | None
    src_index: NDArray[np.int64] | None
    dst_pos_index: NDArray[np.int64] | None
    dst_neg_index: NDArray[np.int64] | None

    @property
    def num_links(self) -> int:
        """How many links there are, without negatives."""
        return len(self.input_ids)
