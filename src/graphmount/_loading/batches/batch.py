"""What loaders of nodes and of links yield: a sample, and what it has in the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmount._loading.batches.batch_parts import BatchParts, LinkParts, external_ids


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Batch(BatchParts[NDArray[np.int64], NDArray[Any]]):
    """One batch of a `NeighborLoader`. It is yours: no later batch changes it.

    Attributes:
        nodes: The node of each number, seeds first: position i has the id of the node that
            `edge_index` calls i.
        edge_index: Numbers of the sources and of the destinations of the edges: (2, edges).
        edge_ids: The id of each edge.
        batch: For each node, the place of the seed whose tree it belongs to, if sampling is
            disjoint; else None.
        num_sampled_nodes: How many seeds there are, then how many new nodes each hop brought.
        num_sampled_edges: How many edges each hop has; None where edges are not in the order of
            hops.
        indptr: The edges that lead to node i are `indptr[i]` to `indptr[i + 1]`, for every node of
            all hops but the last; None where edges do not lie by destination.
        features: For each node table, the rows of `nodes`; of those that are aggregated, the rows
            of the first nodes, those of all hops but the last.
        aggregated: With `aggregate_last`, for each float32 node table, the mean or sum of the rows
            of the neighbors of each of these first nodes; zeros where there are none. Else empty.
        aggregate_last: "mean" or "sum", as the loader was told; None if nothing is aggregated.
        edge_features: For each edge table, the rows of `edge_ids`.
        labels: The labels of the seeds, or None if there are none.
        input_ids: The places of the seeds in `input_nodes` of the loader.
        number: The place of the batch in its epoch, from 0 on.
        epoch: The number of the epoch, from 0 on.
        num_repeated: How many of the inputs, at the end of the batch, are there a second time, to
            fill the last batch of an epoch: 0, or 1 where several ranks share the inputs and they
            do not divide evenly.
        dataset: The dataset that the loader was made from; None if it was made from a graph.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
        >>> _ = gm.compile_dataset("four", edges=([3, 3, 3, 1], [0, 1, 2, 2]), features={"x": x})
        >>> loader = gm.NeighborLoader(gm.Dataset("four"), [2], batch_size=2, memory="1MiB")
        >>> batch = next(iter(loader))
        >>> batch.num_seeds, batch.x.shape == (batch.num_nodes, 2), batch.edge_index.shape[0]
        (2, True, 2)
    """

    @property
    def external_ids(self) -> NDArray[np.int64] | list[str]:
        """What the source of the dataset calls the nodes."""
        return external_ids(self.dataset, self.nodes)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinkBatch(LinkParts[NDArray[np.int64], NDArray[Any]], Batch):
    """One batch of a `LinkNeighborLoader`. It is yours: no later batch changes it.

    It has all attributes of a `Batch`. Seeds are the ends of the links and of their negatives. Each
    is there once, in sorted order; if sampling is disjoint, as often as it is an end. All numbers
    below are positions in `nodes`, like those in `edge_index`: `nodes[edge_label_index]` are the
    ids of the ends.

    Attributes:
        input_ids: The places of the batch's links in `edge_label_index` of the loader.
        batch: For each node, the place of the link whose tree it belongs to, if sampling is
            disjoint. Nodes of a negative have the place of its link.
        edge_label_index: The numbers of the ends of each link, of shape (2, links): sources and
            destinations. Negatives come after the links. None for triplets.
        edge_label: The label of each of these links, 0 for negatives. None for triplets; also None
            without negatives, if the loader was given no labels.
        edge_label_time: The time of each of these links, or for triplets of each link. A negative
            has the time of its link. None if the loader was given no times.
        src_index: For triplets, the number of the source of each link; else None.
        dst_pos_index: For triplets, the number of the destination of each link; else None.
        dst_neg_index: For triplets, the numbers of the negative destinations of each link, of shape
            (links, amount); else None.

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
