"""What `sample_neighbors` gives: a small graph cut out of a large one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighborSample:
    """Seeds, sampled neighbors, and the edges between them, numbered anew from 0.

    `row`, `col` and `batch` mean what they mean in PyG: message passing goes from `row` to `col`.

    Attributes:
        nodes: The node of each number: first the seeds, as they were given, then hop by hop those
            that are new, in the order in which they were met.
        row: Numbers of the sources of the edges.
        col: Numbers of the destinations of the edges.
        edge_ids: Ids of the edges: their positions in the incoming lists of the graph, which is the
            order that edge features are stored in.
        batch: The place of the seed whose tree a node belongs to, if sampling was disjoint.
        num_sampled_nodes: Seeds, then new nodes of each hop: one more than there are hops.
        num_sampled_edges: Edges of each hop, which lie in this order in `row` and `col`. None where
            edges are not in the order of hops: of induced and bidirectional subgraphs.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> sample = gm.Graph("g.gl").sample_neighbors([0], [-1, -1])
        >>> sample.nodes, sample.row, sample.col
        (array([0, 1, 2, 3]), array([1, 2, 3]), array([0, 0, 1]))
        >>> sample.num_sampled_nodes, sample.num_sampled_edges
        ((1, 2, 1), (2, 1))
    """

    nodes: NDArray[np.int64]
    row: NDArray[np.int64]
    col: NDArray[np.int64]
    edge_ids: NDArray[np.int64]
    batch: NDArray[np.int64] | None
    num_sampled_nodes: tuple[int, ...]
    num_sampled_edges: tuple[int, ...] | None

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, seeds and all."""
        return len(self.nodes)

    @property
    def num_edges(self) -> int:
        """How many edges there are."""
        return len(self.row)

    @property
    def num_seeds(self) -> int:
        """How many of the nodes, at the front, are seeds."""
        return self.num_sampled_nodes[0]

    def __repr__(self) -> str:
        return (
            f"<NeighborSample: {self.num_seeds:,} seeds, {self.num_nodes:,} nodes, "
            f"{self.num_edges:,} edges, {len(self.num_sampled_nodes) - 1} hops>"
        )


def both_ways(
    row: NDArray[np.int64], col: NDArray[np.int64], num_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every edge both ways and once, sorted by destination and source.

    The third array says which of the edges each is: the way against an edge is that edge, unless an
    edge of its own was sampled there.
    """
    sources = np.concatenate([row, col])
    destinations = np.concatenate([col, row])
    # `unique` takes the first of equal ones, so that edges come before the ways against others.
    keys = destinations * np.int64(max(num_nodes, 1)) + sources
    _, kept = np.unique(keys, return_index=True)
    return sources[kept], destinations[kept], kept % max(len(row), 1)
